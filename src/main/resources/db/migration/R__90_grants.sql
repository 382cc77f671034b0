-- The rights of the server's role on tables. Runs again whenever the role or this text changes. Role: ${app}
-- Rights on functions with their owner's rights are below each function.
-- A right to insert names the columns that the server sets: the database itself sets places, times, counts and ends.
-- The revokes hold also with one role for everything: an owner without a privilege is refused until it grants it again.

grant usage on schema ${flyway:defaultSchema} to ${app};
grant select on all tables in schema ${flyway:defaultSchema} to ${app};

grant insert (kind, owner, asset) on account to ${app};
grant insert (id, operation, actor, role, key, reference, reason) on command to ${app};
grant insert (subject, debit, credit, amount, kind, slot) on transfer to ${app};
grant insert (id, shard, group_id, sender, kind, asset, amount, count, min, max, split, split_version, seed, commitment, luckiest, greeting,
              metadata, recipients, passcode, escrow, refund_to, opens_at, expires_at) on packet to ${app};
grant insert (user_id, operation, key, fingerprint, subject, transfer) on idempotency to ${app};
grant insert on packet_amounts to ${app};
grant insert (id) on shard to ${app};
grant insert (one), update (unique_references) on installation to ${app};
grant delete on idempotency to ${app};
grant update (epoch, nonce, last_seq, replid, restored) on shard to ${app};
grant update (closed_at, refund, ending, ended_by) on packet to ${app};
grant insert (packet, shard, refund_to) on refund_due to ${app};

revoke update, delete, truncate on transfer, command from ${app};

grant insert (id, shard, owner, group_id, mode, definition, cost, hold, carry_over, seed, commitment, opens_at, closes_at) on draw to ${app};
grant insert (draw, n, name, amount, escrow, stock, announced) on prize to ${app};
grant insert (draw, seq, request, nth, round, at, prize, part, period, release, loaded, user_id) on play to ${app};
grant insert on code, player, period, release, quota to ${app};
grant update (closes_at, closed_at, final_table) on draw to ${app};
grant update (planned) on prize to ${app};
grant delete, update (status, reason, decided_at) on play_request to ${app}; -- only hold_plays inserts
grant update (counters) on player to ${app};
grant update (ended_at) on period to ${app};
grant update (withdrawn) on release to ${app};
grant update (quota) on quota to ${app};

revoke update, delete, truncate on play, code from ${app};

grant insert (draw, seq, n, state, note, actor) on fulfilment to ${app};
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

grant insert (shard, type, subjects, firsts, lasts, events), delete on outbox to ${app};
grant insert, delete on draw_unopened to ${app};
grant insert (one), update (era, anew_at, floor) on outbox_state to ${app};
grant insert, update, delete on webhook, webhook_secret to ${app};
grant insert, delete on webhook_delivery to ${app};

grant insert on asset to ${app};
grant update (symbol, senders, packet_cap, share_cap, day_cap) on asset to ${app};
grant insert, update (day, amount) on sent_on_day to ${app};
grant insert on budget_raise, reversal to ${app};
grant delete on audit_log to ${app}; -- within its trigger's limits, also below; only audit_append inserts
revoke update, delete, truncate on budget_raise, reversal from ${app};
revoke update, truncate on audit_log from ${app};

grant insert (scope, subject, kind, placed, actor, reason), delete on restriction to ${app};
grant delete on revocation to ${app}; -- only revoke_tokens inserts
revoke update, truncate on restriction, revocation from ${app};

grant update (transfer, summed) on checkpoint to ${app};
grant insert, update, delete on checkpoint_balance to ${app};
grant insert, delete on checkpoint_due to ${app};
grant insert, update on checkpoint_state to ${app};
grant insert, update on reconcile_run to ${app};
grant insert, update on turnover to ${app};
grant update on turnover_place to ${app};

