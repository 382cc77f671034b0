-- All triggers, by table. Their functions are in the files of their subjects.
--
-- Replacing a trigger locks its table, so the triggers have their own file, which runs again only when it changes. No reader or writer
-- waits longer than the lock timeout. At the timeout, the whole transaction fails, and the next start tries again.
set local lock_timeout = '5s';

create or replace trigger command_is_kept
    before update or delete or truncate on command
    for each statement execute function refuse_change();
create or replace trigger reference_names_one
    before insert on command
    for each row when (new.reference is not null) execute function reference_names_one();

create or replace trigger asset_is_declared
    after insert on account
    referencing new table as new_accounts
    for each statement execute function asset_is_declared();

create or replace trigger asset_is_kept
    before delete or truncate on asset
    for each statement execute function refuse_change();

create or replace trigger transfer_is_kept
    before update or delete or truncate on transfer
    for each statement execute function refuse_change();
create or replace trigger transfer_moves_balances
    after insert on transfer
    referencing new table as inserted
    for each statement execute function transfer_moves_balances();
create or replace trigger transfer_to_outbox
    after insert on transfer
    referencing new table as inserted
    for each statement execute function transfer_to_outbox();

create or replace trigger reversal_has_transfer
    after insert on reversal
    for each row execute function points_to_a_row();
create or replace trigger reversal_is_kept
    before update or delete or truncate on reversal
    for each statement execute function refuse_change();

create or replace trigger packet_adds_up
    after insert on packet
    referencing new table as new_packets
    for each statement execute function packet_adds_up();
create or replace trigger packet_closes_whole
    after update on packet
    referencing new table as new_packets
    for each statement execute function packet_closes_whole();
create or replace trigger packet_end_to_feed
    after update on packet
    referencing old table as old_packets new table as new_packets
    for each statement execute function packet_end_to_feed();
create or replace trigger packet_end_to_outbox
    after update on packet
    referencing old table as old_packets new table as new_packets
    for each statement execute function packet_end_to_outbox();
create or replace trigger packet_is_unannounced
    after insert on packet
    referencing new table as new_packets
    for each statement execute function packet_is_unannounced();

create or replace trigger amounts_come_first
    after insert on packet_amounts
    referencing new table as new_blocks
    for each statement execute function amounts_come_first();
create or replace trigger packet_amounts_are_kept
    before update or delete or truncate on packet_amounts
    for each statement execute function refuse_change();

create or replace trigger draw_end_to_feed
    after update on draw
    referencing old table as old_draws new table as new_draws
    for each statement execute function draw_end_to_feed();
create or replace trigger draw_end_to_outbox
    after update on draw
    referencing old table as old_draws new table as new_draws
    for each statement execute function draw_end_to_outbox();
create or replace trigger draw_to_feed
    after insert on draw
    for each row when (new.group_id is not null) execute function draw_to_feed();
create or replace trigger draw_to_outbox
    after insert on draw
    for each row execute function draw_to_outbox();

create or replace trigger play_is_kept
    before update or delete or truncate on play
    for each statement execute function refuse_change();
create or replace trigger play_to_outbox
    after insert on play
    referencing new table as inserted
    for each statement execute function play_to_outbox();
create or replace trigger plays_are_issued
    after insert on play
    referencing new table as inserted
    for each statement execute function plays_are_issued();

create or replace trigger fulfilment_has_play
    after insert on fulfilment
    for each row execute function points_to_a_row();
create or replace trigger fulfilment_is_kept
    before update or delete or truncate on fulfilment
    for each statement execute function refuse_change();
create or replace trigger fulfilment_to_outbox
    after insert on fulfilment
    for each row execute function fulfilment_to_outbox();

create or replace trigger campaign_to_outbox
    after update on campaign
    referencing old table as old_campaigns new table as new_campaigns
    for each statement execute function campaign_to_outbox();
create or replace trigger rain_ends
    after update on campaign
    referencing old table as old_campaigns new table as new_campaigns
    for each statement execute function rain_ends();

create or replace trigger rain_to_outbox
    after insert on rain
    for each row execute function rain_to_outbox();

create or replace trigger pool_is_kept
    before update or delete or truncate on pool
    for each statement execute function refuse_change();

create or replace trigger budget_raise_has_transfer
    after insert on budget_raise
    for each row execute function points_to_a_row();
create or replace trigger budget_raise_is_kept
    before update or delete or truncate on budget_raise
    for each statement execute function refuse_change();

create or replace trigger restriction_is_kept
    before update or truncate on restriction
    for each statement execute function refuse_change();
create or replace trigger restriction_to_outbox
    after insert on restriction
    for each row execute function restriction_to_outbox();
create or replace trigger restriction_stays_in_force
    after delete on restriction
    referencing old table as gone
    for each statement execute function restriction_stays_in_force();

create or replace trigger revocation_is_kept
    before update or truncate on revocation
    for each statement execute function refuse_change();
create or replace trigger revocation_stays_in_force
    after delete on revocation
    referencing old table as gone
    for each statement execute function revocation_stays_in_force();

create or replace trigger audit_log_is_kept
    before update or truncate on audit_log
    for each statement execute function refuse_change();
create or replace trigger audit_log_keeps_a_year
    after delete on audit_log
    referencing old table as gone
    for each statement execute function audit_log_keeps_a_year();

-- Refuses statements on the part _other itself, like guard_part for the part of a month.
create or replace trigger rows_come_by_their_table
    before insert or update or delete or truncate on transfer_other
    for each statement execute function refuse_change();
create or replace trigger rows_come_by_their_table
    before insert or update or delete or truncate on packet_amounts_other
    for each statement execute function refuse_change();
create or replace trigger rows_come_by_their_table
    before insert or update or delete or truncate on play_other
    for each statement execute function refuse_change();
