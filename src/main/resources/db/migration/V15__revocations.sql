-- Revoked tokens: all of a user that were made before a moment. Nothing is ever edited, and nothing is lifted: the latest moment of a user
-- counts, and stays.

create table revocation (
    n          bigint         generated always as identity primary key, -- in the order of commits: revoke_tokens makes one at a time
    user_id    text           not null,
    not_before timestamptz(0) not null, -- a whole second, as a token's iat is
    actor      text           not null, -- who did it
    key        text           not null, -- the idempotency key of the call, kept as long as the row
    reason     text           check (char_length(reason) between 1 and 200),
    at         timestamptz    not null default clock_timestamp(),
    constraint revocation_command unique (actor, key)
);
create index revocation_of on revocation (user_id, not_before);

create trigger revocation_is_kept
    before update or truncate on revocation
    for each statement execute function refuse_change();

-- What goes is of more than a year ago, and a later moment of its user counts: for every role.
create function revocation_stays_in_force() returns trigger
    language plpgsql
as $$
begin
    if exists (select from gone as g
               where g.at > now() - interval '365 days'
                  or not exists (select from revocation as r where r.user_id = g.user_id and r.not_before >= g.not_before)) then
        raise exception 'revocation is never changed, but that what a later moment includes may go after a year: % refused', tg_op
            using errcode = 'insufficient_privilege';
    end if;
    return null;
end
$$;

create trigger revocation_stays_in_force
    after delete on revocation
    referencing old table as gone
    for each statement execute function revocation_stays_in_force();

-- Removes at most `page` rows that are older than `keep` and do not count. Returns how many.
create function revocation_sweep(keep interval, page integer) returns bigint
    language plpgsql
as $$
declare
    gone bigint;
begin
    delete from revocation as r
    where r.ctid = any (array(select o.ctid from revocation as o
                              where o.at < now() - keep
                                and exists (select from revocation as l
                                            where l.user_id = o.user_id
                                              and (l.not_before > o.not_before or l.not_before = o.not_before and l.n < o.n))
                              limit page));
    get diagnostics gone = row_count;
    return gone;
end
$$;

-- Revokes. Idempotent by (actor, key): returns what the first call did, and whether it was an earlier one. Without a time it is now. A time
-- is rounded up to the second, so that what was made earlier in that second is revoked too. Returns nothing when the time is more than 5
-- minutes ahead: no clock of an issuer is, and the user could have no token until then.
create function revoke_tokens(of_user text, before timestamptz, of_actor text, of_key text, of_reason text)
    returns table (user_id text, not_before timestamptz, actor text, reason text, at timestamptz, repeated boolean)
    language plpgsql
as $$
#variable_conflict use_column
declare
    moment timestamptz := coalesce(before, clock_timestamp());
begin
    perform set_config('lock_timeout', '3s', true);
    perform pg_advisory_xact_lock(hashtextextended('revoke_tokens', 0));
    return query select r.user_id, r.not_before, r.actor, r.reason, r.at, true
                 from revocation as r where r.actor = of_actor and r.key = of_key;
    if found or moment > clock_timestamp() + interval '5 minutes' then
        return;
    end if;
    return query
        insert into revocation as r (user_id, not_before, actor, key, reason)
        values (of_user, date_trunc('second', moment + interval '999999 microseconds'), of_actor, of_key, of_reason)
        returning r.user_id, r.not_before, r.actor, r.reason, r.at, false;
end
$$;
