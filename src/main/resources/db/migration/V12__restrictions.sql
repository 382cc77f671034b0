-- Restrictions: users who are frozen or blocked, groups that are blocked. Nothing is ever edited: each change is a row, and the last one
-- of a subject and a kind says how it is, and stays.

create table restriction (
    n       bigint      generated always as identity primary key, -- in the order of commits: change_restriction makes one at a time
    scope   text        not null check (scope in ('user', 'group')),
    subject text        not null,
    kind    text        not null check (kind in ('frozen', 'blocked')),
    placed  boolean     not null, -- false: lifted
    actor   text        not null, -- who did it
    reason  text        not null check (char_length(reason) between 1 and 200),
    at      timestamptz not null default clock_timestamp(),
    constraint restriction_of_group check (scope = 'user' or kind = 'blocked')
);
create index restriction_of on restriction (scope, subject, kind, n);

create trigger restriction_is_kept
    before update or truncate on restriction
    for each statement execute function refuse_change();

-- What goes is of more than a year ago, and says no more how it is: for every role.
create function restriction_stays_in_force() returns trigger
    language plpgsql
as $$
begin
    if exists (select from gone as g
               where g.at > now() - interval '365 days'
                  or not exists (select from restriction as r
                                 where r.scope = g.scope and r.subject = g.subject and r.kind = g.kind and r.n > g.n)) then
        raise exception 'restriction is never changed, but that what a later row has ended may go after a year: % refused', tg_op
            using errcode = 'insufficient_privilege';
    end if;
    return null;
end
$$;

create trigger restriction_stays_in_force
    after delete on restriction
    referencing old table as gone
    for each statement execute function restriction_stays_in_force();

-- Removes at most `page` rows that are older than `keep` and that a later one has ended. Returns how many.
create function restriction_sweep(keep interval, page integer) returns bigint
    language plpgsql
as $$
declare
    gone bigint;
begin
    delete from restriction as r
    where r.ctid = any (array(select o.ctid from restriction as o
                              where o.at < now() - keep
                                and exists (select from restriction as l
                                            where l.scope = o.scope and l.subject = o.subject and l.kind = o.kind and l.n > o.n)
                              limit page));
    get diagnostics gone = row_count;
    return gone;
end
$$;

-- Whether a user or a group is restricted now.
create function is_restricted(of_scope text, of_subject text, of_kind text) returns boolean
    language sql
    stable
return coalesce((select r.placed from restriction as r
                 where r.scope = of_scope and r.subject = of_subject and r.kind = of_kind order by r.n desc limit 1), false);

-- Places or lifts a restriction. Idempotent: returns whether it changed anything. Waits for what moves money out of the user's wallets at
-- this moment: after it is committed, nothing that it forbids is.
create function change_restriction(
    of_scope text, of_subject text, of_kind text, to_place boolean, of_actor text, of_reason text)
    returns boolean
    language plpgsql
as $$
begin
    perform set_config('lock_timeout', '3s', true);
    perform pg_advisory_xact_lock(hashtextextended('change_restriction', 0));
    if is_restricted(of_scope, of_subject, of_kind) = to_place then
        return false;
    end if;
    if of_scope = 'user' then
        perform lock_accounts(array(select a.id from account as a where a.owner = of_subject and a.kind = 'wallet'));
    end if;
    insert into restriction (scope, subject, kind, placed, actor, reason)
    values (of_scope, of_subject, of_kind, to_place, of_actor, of_reason);
    return true;
end
$$;

-- Of what is about to move money out of wallets that are locked, the verdicts: 'frozen' or 'blocked' where one was 'done' and its user, or
-- the group that it is for, is restricted. Groups are null where none is looked at.
create function judge_restrictions(verdicts text[], users text[], groups text[]) returns text[]
    language plpgsql
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_bitmapscan = off
as $$
begin
    if not exists (select from restriction) then
        return verdicts;
    end if;
    return array(
        select case when g.verdict <> 'done' then g.verdict
                    when is_restricted('user', g.user_id, 'frozen') then 'frozen'
                    when g.group_id is not null
                         and (is_restricted('group', g.group_id, 'blocked') or is_restricted('user', g.user_id, 'blocked')) then 'blocked'
                    else g.verdict end
        from unnest(verdicts, users, groups) with ordinality as g(verdict, user_id, group_id, n) order by g.n);
end
$$;
