-- Packets and draws that are set aside, because Postgres refuses what the journal holds of them: an operator decides.

-- A whole packet or draw, not one of its entries: the next ones follow from it (a slot that is left out would be a gap). While it is
-- here nothing of it is settled, see move_cursors; recovery does not load it, and its money stays where it is.
create table quarantine_unit (
    id       uuid        primary key, -- of the packet or the draw
    kind     text        not null check (kind ~ '^[a-z]+$'),
    shard    smallint    not null references shard,
    since    timestamptz not null default now(),
    sqlstate text        not null, -- of the refusal; '' for a definition that cannot be read
    reason   text        not null
);
create index quarantine_unit_shard on quarantine_unit (shard);

-- What the journal held of them, in its order.
create table quarantine (
    n    bigint      generated always as identity primary key,
    unit uuid        not null references quarantine_unit,
    verb text        not null, -- the journal's word for what it is
    item text        not null, -- as the script wrote it
    at   timestamptz not null -- when the cursor passed it
);
create index quarantine_of_unit on quarantine (unit, n);

-- Sets units aside, and keeps items of units that are. It is called in the statement that moves the cursor past the items, after
-- the move: so all of it happens or nothing. HB003 when an item's unit is not set aside (any more).
create function set_aside(
    settled_at timestamptz,
    units uuid[], kinds text[], shards smallint[], sqlstates text[], reasons text[],
    item_units uuid[], verbs text[], items text[])
    returns void
    language plpgsql
as $$
begin
    insert into quarantine_unit (id, kind, shard, sqlstate, reason)
    select * from unnest(units, kinds, shards, sqlstates, reasons) as g(id, kind, shard, sqlstate, reason)
    order by g.id
    on conflict do nothing;
    insert into quarantine (unit, verb, item, at)
    select g.unit, g.verb, g.item, settled_at
    from unnest(item_units, verbs, items) with ordinality as g(unit, verb, item, n)
    order by g.n;
exception when foreign_key_violation then
    raise exception 'what is kept is not set aside' using errcode = 'HB003';
end
$$;

-- Ends a statement that only tries whether something can be settled: all of it is undone.
create function undo(settled_at timestamptz) returns void
    language plpgsql
as $$
begin
    raise exception 'it can be settled' using errcode = 'HB004';
end
$$;
