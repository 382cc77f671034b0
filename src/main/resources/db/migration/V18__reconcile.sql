-- Reconciling from a checkpoint: what the next run starts from. A run that found no violation writes it, in the transaction that it read in.

-- Transfers are written in the order of their ids, nearly: so those after a place are a range of pages. To keep this costs a claim nothing.
create index transfer_id on transfer using brin (id) with (pages_per_range = 32, autosummarize = on);

create table checkpoint (
    one      boolean primary key default true check (one),
    transfer bigint  not null default 0 -- every transfer up to this id is reconciled, and no other will ever have such an id
);
insert into checkpoint default values;

-- Of each account the sum of its transfers up to the checkpoint; without a row it is 0.
create table checkpoint_balance (
    account bigint primary key,
    balance bigint not null
);

-- Accounts that moved before the checkpoint, and whose balance was not compared since: a run of several steps was not finished.
create table checkpoint_due (
    account bigint primary key
);

-- Draws and campaigns as they were when they were found clean: while they are the same, they are not read again.
create table checkpoint_state (
    id    uuid primary key,
    state text not null
);

-- The latest run of each kind.
create table reconcile_run (
    since_checkpoint boolean     primary key, -- whether it read what is new since the checkpoint, or everything
    at               timestamptz not null default now(), -- when it ended
    clean_at         timestamptz, -- when the latest one ended that found no violation; null: none did
    violations       integer     not null, -- lines that the latest one found
    quarantined      integer     not null,
    heals            integer     not null
);

-- The highest id that a transfer was given so far. Null when ids are handed out in blocks: then a lower one may be given later.
create function transfers_begun() returns bigint
    language sql
    stable
    security definer -- for whom may not look at the sequence
    set search_path = pg_catalog, ${flyway:defaultSchema}, pg_temp
return (select coalesce(pg_sequence_last_value(s.seqrelid), 0) from pg_sequence as s
        where s.seqrelid = pg_get_serial_sequence('transfer', 'id')::regclass and s.seqcache = 1);

-- The transactions that write transfers now: all that were given an id and have not ended, also those that are prepared.
create function transfers_under_way() returns text[]
    language sql
    stable
return array(select distinct l.virtualtransaction || ' ' || coalesce(l.pid, 0) from pg_locks as l
             where l.locktype = 'relation' and l.mode = 'RowExclusiveLock'
               and l.database = (select d.oid from pg_database as d where d.datname = current_database())
               and l.relation in (select 'transfer'::regclass union all select p.relid from pg_partition_tree('transfer') as p));

-- What tells whether anything became of a draw since: its plays, its plan and its end.
create function checkpoint_state_of_draw(of_draw uuid) returns text
    language sql
    stable
return (select format('%s %s %s', coalesce(d.closed_at::text, 'open'), sum(z.issued), sum(z.planned))
        from draw as d join prize as z on z.draw = d.id where d.id = of_draw group by d.id);

create function checkpoint_state_of_campaign(of_campaign uuid) returns text
    language sql
    stable
return (select format('%s %s %s %s %s', coalesce(c.closed_at::text, 'open'), c.budget, c.returned, r.caught, r.ended)
        from campaign as c left join rain as r on r.id = c.id where c.id = of_campaign);
