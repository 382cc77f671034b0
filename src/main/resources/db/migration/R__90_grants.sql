-- The rights of the server's role on tables. Runs again whenever the role or this text changes. Role: ${app}
-- Rights on functions with their owner's rights are below each function.
-- The revokes hold also with one role for everything: an owner without a privilege is refused until it grants it again.

grant usage on schema ${flyway:defaultSchema} to ${app};
grant select on all tables in schema ${flyway:defaultSchema} to ${app};

grant insert (kind, owner, asset) on account to ${app};
grant insert on command, transfer, packet, packet_amounts, idempotency to ${app};
grant insert (id) on shard to ${app};
grant insert (one), update (unique_references) on installation to ${app};
grant delete on idempotency to ${app};
grant update (epoch, nonce, last_seq, replid, restored) on shard to ${app};
grant update (closed_at, refund, ending, ended_by) on packet to ${app};
grant insert, delete on refund_due to ${app};

revoke update, delete, truncate on transfer, command from ${app};

grant insert on draw, prize, code, play_request, play, player, period, release, quota to ${app};
grant update (closes_at, closed_at, final_table) on draw to ${app};
grant update (planned) on prize to ${app};
grant delete, update (plays, cost, attempt, status, reason, held_at, decided_at) on play_request to ${app};
grant update (counters) on player to ${app};
grant update (ended_at) on period to ${app};
grant update (withdrawn) on release to ${app};
grant update (quota) on quota to ${app};

revoke update, delete, truncate on play, code from ${app};

grant insert on fulfilment to ${app};
revoke update, delete, truncate on fulfilment from ${app};
grant insert, update, delete on profile to ${app};

grant insert on campaign, pool to ${app};
grant update (budget, opens_at, ends_at, paused_at, pools_go_on, closed_at, returned) on campaign to ${app};
grant insert, update (started, caught, told_at, ended, cancelled_at) on rain to ${app};

grant insert, update (last, floor, touched) on feed to ${app};
grant insert, update (seq, claimed, amount, at), delete on group_event to ${app};
grant insert, delete, update (sent_at) on unannounced to ${app};
grant insert, delete, update (opened, told, told_at) on draw_feed to ${app};

grant insert, delete on quarantine_unit, quarantine to ${app};

grant insert, delete on outbox, draw_unopened to ${app};
grant insert (one), update (era, anew_at, floor) on outbox_state to ${app};
grant insert, update, delete on webhook, webhook_secret to ${app};
grant insert, delete on webhook_delivery to ${app};

grant insert on asset to ${app};
grant update (symbol, senders, packet_cap, share_cap, day_cap) on asset to ${app};
grant insert, update (day, amount) on sent_on_day to ${app};
grant insert on budget_raise, reversal, audit_log to ${app};
grant delete on audit_log to ${app}; -- within its trigger's limits, also below
revoke update, delete, truncate on budget_raise, reversal from ${app};
revoke update, truncate on audit_log from ${app};

grant insert, delete on restriction, revocation to ${app};
revoke update, truncate on restriction, revocation from ${app};

grant update (transfer, summed) on checkpoint to ${app};
grant insert, update, delete on checkpoint_balance to ${app};
grant insert, delete on checkpoint_due to ${app};
grant insert, update on checkpoint_state to ${app};
grant insert, update on reconcile_run to ${app};
grant insert, update on turnover to ${app};
grant update on turnover_place to ${app};

