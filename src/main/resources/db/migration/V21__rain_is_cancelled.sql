-- Cancels a rain before its end; idempotent. Drops that have not fallen never fall: their opening is just before the cancelling.
--
-- Its moment is read under all locks. Before them, a drop could fall and be announced while they were waited for, and was told to have
-- never fallen. Locks: the campaign, the rain, its packets, then what is unannounced, each in order.
create or replace function cancel_rain(of_rain uuid) returns void
    language plpgsql
as $$
declare
    falling constant uuid[] := array(select packet from pool where campaign = of_rain);
    never   uuid[];
begin
    perform from campaign where id = of_rain for no key update;
    perform from rain where id = of_rain for no key update;
    perform from packet where id = any (falling) and closed_at is null order by id for no key update;
    -- Who announces a drop takes it out of here: whatever is announced by now has fallen, and nothing falls until this is committed.
    perform from unannounced where packet = any (falling) order by packet for update;

    perform end_campaign(of_rain);
    update rain as r set cancelled_at = c.ends_at
    from campaign as c
    where r.id = of_rain and c.id = r.id and r.cancelled_at is null and c.ends_at < r.ends_at;
    if found then
        -- At once, and all of them: there are at most 500 drops.
        perform end_pools(array[of_rain], 500);
        never := array(select p.id from rain as r join packet as p on p.id = any (falling)
                       where r.id = of_rain and p.opens_at >= r.cancelled_at - interval '1 microsecond');
        delete from unannounced where packet = any (never);
    end if;
end
$$;
