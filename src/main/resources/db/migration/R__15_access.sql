-- Restrictions of users and groups, revoked tokens, and the audit log.

-- Whether a user or a group is restricted now.
create or replace function is_restricted(of_scope text, of_subject text, of_kind text) returns boolean
    language sql
    stable
return coalesce((select r.placed from restriction as r
                 where r.scope = of_scope and r.subject = of_subject and r.kind = of_kind order by r.n desc limit 1), false);

-- Places or lifts a restriction. Idempotent: returns whether it changed anything. A user's restriction waits for transactions that move
-- money out of the user's wallets; none that it forbids commits after it. A group's waits for none: a send under way may commit after it.
create or replace function change_restriction(
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

-- Only rows older than a year that a later row has ended may be deleted, by any role.
create or replace function restriction_stays_in_force() returns trigger
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

-- Deletes at most `page` rows older than `keep` that a later row has ended. Returns the number deleted.
create or replace function restriction_sweep(keep interval, page integer) returns bigint
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

-- Checks commands that move money out of locked wallets. Changes a verdict 'done' to 'frozen' or 'blocked' when the user or the command's
-- group is restricted. Without a group, only 'frozen' is checked.
create or replace function judge_restrictions(verdicts text[], users text[], groups text[]) returns text[]
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

-- Revokes a user's tokens. Idempotent by (actor, key): returns the first call's row, and whether that call was an earlier one. A null time
-- is now. Rounds the time up to the second, so that tokens made earlier in that second are revoked, too. Returns nothing for a time more
-- than 5 minutes ahead: no issuer's clock is that wrong, and the user could have no valid token until then.
create or replace function revoke_tokens(of_user text, before timestamptz, of_actor text, of_key text, of_reason text)
    returns table (user_id text, not_before timestamptz, actor text, reason text, at timestamptz, repeated boolean)
    language plpgsql
    security definer -- only this function may write a row and its time
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
as $$
#variable_conflict use_column
declare
    called timestamptz;
    moment timestamptz;
begin
    perform set_config('lock_timeout', '3s', true);
    perform pg_advisory_xact_lock(hashtextextended('revoke_tokens', 0));
    called := clock_timestamp(); -- after the wait: a repetition knows a call of now by moment and time being one
    moment := coalesce(before, called);
    return query select r.user_id, r.not_before, r.actor, r.reason, r.at, true
                 from revocation as r where r.actor = of_actor and r.key = of_key;
    if found or moment > called + interval '5 minutes' then
        return;
    end if;
    return query
        insert into revocation as r (user_id, not_before, actor, key, reason, at)
        values (of_user, date_trunc('second', moment + interval '999999 microseconds'), of_actor, of_key, of_reason, called)
        returning r.user_id, r.not_before, r.actor, r.reason, r.at, false;
end
$$;
revoke execute on function revoke_tokens(text, timestamptz, text, text, text) from public;
grant execute on function revoke_tokens(text, timestamptz, text, text, text) to ${app};

-- Only rows older than a year whose user has a later moment may be deleted, by any role.
create or replace function revocation_stays_in_force() returns trigger
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

-- Deletes at most `page` rows older than `keep` that do not count. Returns the number deleted.
create or replace function revocation_sweep(keep interval, page integer) returns bigint
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

-- Writes rows of the log. One server at a time, until its commit, so no row appears before one that was read.
create or replace function audit_append(
    actors text[], roles text[], addresses text[], requests text[], methods text[], routes text[], subjects text[],
    statuses smallint[], problems text[], refs text[], times bigint[], missed bigint[])
    returns void
    language plpgsql
    security definer -- only this function may write rows, their places and their times
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
as $$
declare
    last record;
begin
    perform set_config('lock_timeout', '3s', true);
    perform pg_advisory_xact_lock(hashtextextended('audit_log', 0));
    select l.n, l.at into last from audit_log as l order by l.n desc limit 1;
    insert into audit_log (n, at, actor, role, address, request, method, route, subject, status, problem, reference, times, missed)
    select coalesce(last.n, (select f.n from audit_floor as f)) + g.n, greatest(clock_timestamp(), last.at), g.actor, g.role, g.address,
           g.request, g.method, g.route, g.subject, g.status, g.problem, g.reference, g.times, g.missed
    from unnest(actors, roles, addresses, requests, methods, routes, subjects, statuses, problems, refs, times, missed) with ordinality
             as g(actor, role, address, request, method, route, subject, status, problem, reference, times, missed, n)
    order by g.n;
end
$$;
revoke execute on function audit_append(
    text[], text[], text[], text[], text[], text[], text[], smallint[], text[], text[], bigint[], bigint[]) from public;
grant execute on function audit_append(
    text[], text[], text[], text[], text[], text[], text[], smallint[], text[], text[], bigint[], bigint[]) to ${app};

-- Only the oldest rows of the log may be deleted, after a year at least, by any role.
create or replace function audit_log_keeps_a_year() returns trigger
    language plpgsql
    security definer -- only this function may write the beginning of the log
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
as $$
declare
    last constant bigint := (select max(g.n) from gone as g);
begin
    if exists (select from gone as g where g.at > now() - interval '365 days') or exists (select from audit_log as l where l.n < last) then
        raise exception 'audit_log is never changed, but that its oldest rows may go after a year: % refused', tg_op
            using errcode = 'insufficient_privilege';
    end if;
    update audit_floor set n = last where last is not null;
    return null;
end
$$;
revoke execute on function audit_log_keeps_a_year() from public;

-- Deletes at most `page` rows older than `keep`, oldest first. Returns the number deleted.
create or replace function audit_log_sweep(keep interval, page integer) returns bigint
    language plpgsql
as $$
declare
    gone bigint;
begin
    delete from audit_log as l
    where l.n <= (select max(o.n) from (select x.n from audit_log as x where x.at < now() - keep order by x.at, x.n limit page) as o);
    get diagnostics gone = row_count;
    return gone;
end
$$;
