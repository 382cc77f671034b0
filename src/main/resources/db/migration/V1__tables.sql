-- All tables, with their constraints and indexes, by subject; and packet_commitment, which a constraint calls. What works on them stands in the
-- R files, one a subject; their triggers in R__80_triggers.sql, what the server's role may do in R__90_grants.sql.
--
-- Amounts are whole minor units (fen, points) in bigint. Rules that money depends on are constraints and triggers, not only code.

-- The installation ----------------------------------------------------------------------------------------------------

-- Who we are to a Redis that others use, too: a prefix of this id names our keys there, unless an option does. Made at the first
-- start, not here: a database may be copied after its migration and before it is anybody's.
create table installation (
    one boolean primary key default true check (one),
    id  uuid    not null default gen_random_uuid(),
    -- Whether a reference names one command: as the server that started last was told.
    unique_references boolean not null default false,
    -- What servers tell each other over Redis is signed with this key, of 244 random bits; while it changes, the one before is believed, too.
    line_key bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()),
    line_key_before bytea
);

-- The ledger ----------------------------------------------------------------------------------------------------------
-- Accounts, what was asked for, and what moved. A row of money is never changed: triggers refuse it, for every role.

create table account (
    id      bigint generated always as identity primary key,
    kind    text   not null check (kind in ('wallet', 'escrow', 'hold', 'source')),
    owner   text   not null, -- wallet: the user; escrow: the packet's, draw's or campaign's id; hold: the draw's id; source: 'outside'
    asset   text   not null,
    balance bigint not null default 0,
    -- Of a packet's escrow: how many slots are settled, which are those from 0 on, without gaps. 0 for any other account. It stands in this
    -- row because each settlement of the packet writes the row anyway.
    claims  integer not null default 0,
    unique (owner, kind, asset),
    constraint account_not_negative check (kind = 'source' or balance >= 0),
    -- All money in wallets and escrows came through a source. Bounding it here means that no settlement can overflow.
    constraint account_in_range check (balance > -9000000000000000000),
    constraint account_counts_claims check (claims >= 0 and (claims = 0 or kind = 'escrow'))
) with (fillfactor = 45); -- room for a second version of every row: only balance and claims change, and no index holds them

-- What somebody asked for, once, under an idempotency key, and that moved money: who it was, and why. Its id is the subject of the
-- transfers that it made: a send's is its packet's, a draw's its draw's, a campaign's or a rain's its own; see also budget_raise.
-- It stays when the key is forgotten.
create table command (
    id        uuid        primary key, -- UUIDv7
    operation text        not null, -- deposit, withdrawal, send, draw, campaign, budget, rain, reversal
    actor     text        not null, -- who asked: the token's subject; without a token, for whom the server did it
    role      text        not null check (role in ('user', 'service', 'server')), -- of the token; server: without one
    key       text        not null, -- the idempotency key that the actor gave
    reference text        check (reference ~ '^[!-~]{1,64}$'), -- the host's own name for it; null for none
    reason    text        check (length(reason) between 1 and 200), -- null for none
    at        timestamptz not null default now() -- the same as of its transfers: of their transaction
);
create index command_reference on command (reference, id) where reference is not null;
create index command_actor on command (actor, id);

-- What moved. A claim is a transfer from the packet's escrow to a wallet, and its slot is the share that was won: one row, so that a claim
-- and its money cannot differ. Balances follow the transfers: see transfer_moves_balances.
create table transfer (
    subject uuid        not null, -- what it belongs to: a packet, a draw, a campaign, or the command that asked for it; UUIDv7
    id      bigint generated always as identity, -- grows with time within a wallet
    debit   bigint      not null,
    credit  bigint      not null,
    amount  bigint      not null,
    at      timestamptz not null default now(),
    kind    text        not null check (kind in
        ('deposit', 'withdrawal', 'send', 'claim', 'refund', 'fund', 'cost', 'return', 'award', 'proceeds', 'reversal')),
    slot    integer     check (slot >= 0), -- of a claim; null for any other kind
    primary key (subject, id),
    constraint transfer_amount check (amount > 0 and amount < 100000000000000),
    constraint transfer_two_accounts check (debit <> credit),
    constraint transfer_is_claim check ((kind = 'claim') = (slot is not null))
) partition by range (subject);

create unique index transfer_slot on transfer (subject, slot) where slot is not null;
-- A user's wallets are one for each asset, and a packet has one asset: so this is one claim for each user and packet. The packet comes
-- first: the claims of one stand together, in pages that are being written anyway.
create unique index transfer_claim on transfer (subject, credit) where slot is not null;

-- A wallet's records. Escrows are read through their subject, so a claim costs one of these entries, not two.
create index transfer_in on transfer (credit, id)
    where kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal');
create index transfer_out on transfer (debit, id) where kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal');

-- Transfers are written in the order of time and of their ids, nearly: so a range of either is a range of pages. To keep these costs a claim
-- nothing.
create index transfer_at on transfer using brin (at) with (pages_per_range = 32, autosummarize = on);
create index transfer_id on transfer using brin (id) with (pages_per_range = 32, autosummarize = on);

-- What a user's command did, by its idempotency key. Bound only by success: written in the command's own transaction.
create table idempotency (
    user_id     text        not null,
    operation   text        not null,
    key         text        not null,
    fingerprint bytea       not null, -- of the command; the same key with another one is refused
    subject     uuid        not null, -- of what it made: the packet, the draw, or the command of a deposit or a withdrawal
    transfer    bigint, -- the id of the subject's transfer that it made; null for a draw
    at          timestamptz not null default now(),
    primary key (user_id, operation, key)
);
create index idempotency_at on idempotency (at);

-- Assets: what is counted here, declared before anything of it is held. A mistyped code would be a money of its own.
create table asset (
    code        text        primary key check (code ~ '^[A-Z][A-Z0-9_-]{0,15}$'),
    scale       smallint    not null check (scale between 0 and 9), -- digits behind the point: 2 for CNY, whose minor unit is the fen
    symbol      text        not null check (char_length(symbol) between 1 and 8),
    senders     text        not null default 'everybody' check (senders in ('everybody', 'service')),
    packet_cap  bigint      check (packet_cap > 0), -- of one packet's amount, minor units; null for none, as below
    share_cap   bigint      check (share_cap > 0), -- of one share
    day_cap     bigint      check (day_cap > 0), -- of all that one sender puts into packets on a day in UTC
    declared_at timestamptz not null default now(),
    capped      boolean     not null
        generated always as (packet_cap is not null or share_cap is not null or day_cap is not null) stored
);
create index asset_capped on asset (code) where capped;

-- What a wallet has put into packets on the latest day on which it sent, of an asset with a cap a day.
create table sent_on_day (
    wallet bigint primary key,
    day    date   not null, -- in UTC
    amount bigint not null check (amount > 0)
) with (fillfactor = 50);

-- A transfer that was taken back by another one: never by an edit. A transfer is reversed once, and a reversal never. The transfer is there
-- when this is written, see points_to_a_row; a foreign key would keep its month for ever.
create table reversal (
    command  uuid   primary key references command, -- the subject of the transfer that reverses
    subject  uuid   not null, -- with `transfer`: the transfer that is reversed
    transfer bigint not null,
    unique (subject, transfer)
);

-- Shards and packets --------------------------------------------------------------------------------------------------

-- One row a shard: its generation (epoch for order, nonce for identity) and its cursor. Postgres' word on both is the truth.
create table shard (
    id       smallint primary key check (id >= 0),
    epoch    bigint   not null default 0 check (epoch >= 0), -- 0: no generation yet, the owner's recovery draws the first
    nonce    text     not null default '',
    last_seq bigint   not null default 0 check (last_seq >= 0), -- the last journal entry settled
    replid   text     not null default '', -- Redis' master_replid when the generation was drawn
    -- The latest epoch that was drawn since this database had gone back in time (a restored backup, a promoted replica that lacked
    -- commits): what a server knows from an earlier epoch may never have been. 0: none.
    restored bigint   not null default 0 check (restored between 0 and epoch)
);

-- What a packet commits to when it is sent: a digest that tells nothing of the seed, and that no other seed or terms have. The
-- application computes it too, and anybody can once the seed is told; the guide's page on fairness describes the bytes.
create function packet_commitment(
    id uuid, seed bytea, asset text, amount bigint, count integer, min bigint, max bigint, split text, split_version smallint)
    returns bytea
    language sql
    immutable
return sha256(('hongbao-packet-v1' || e'\n' || 'id=' || id::text || e'\n' || 'seed=' || encode(seed, 'hex') || e'\n'
    || 'asset=' || asset || e'\n' || 'amount=' || amount::text || e'\n' || 'count=' || count::text || e'\n'
    || 'min=' || min::text || e'\n' || 'max=' || max::text || e'\n'
    || 'split=' || split || e'\n' || 'splitVersion=' || split_version::text || e'\n')::bytea);

create table packet (
    id         uuid primary key,
    shard      smallint    not null, -- there is such a shard: see packet_adds_up
    group_id   text        not null,
    sender     text        not null,
    kind       text        not null check (kind in ('lucky', 'equal', 'exclusive')),
    asset      text        not null,
    amount     bigint      not null check (amount > 0 and amount < 100000000000000),
    count      integer     not null check (count between 1 and 100000),
    min        bigint      not null check (min >= 1 and min <= amount / count), -- the smallest share allowed
    max        bigint      not null check (max <= amount and max >= (amount + count - 1) / count), -- the largest
    split      text        not null,
    split_version smallint not null check (split_version >= 1), -- of what a seed expands to
    seed       bytea       not null check (length(seed) = 32), -- told to nobody before the packet is closed
    commitment bytea       not null,
    luckiest   integer     not null, -- the slot with the largest amount, ties to the earlier one
    greeting   text,
    metadata   jsonb       check (jsonb_typeof(metadata) = 'object'), -- the sender's free words; of draws, campaigns and rains in the definition
    recipients text[],
    passcode   bytea, -- a salted digest
    escrow     bigint      not null, -- its own account, and no other's: see packet_adds_up
    refund_to  bigint      not null, -- the account that paid, of the same asset: what nobody claimed goes back there
    created_at timestamptz not null default now(),
    opens_at   timestamptz not null,
    expires_at timestamptz not null,
    closed_at  timestamptz, -- when it was drained, or closed after its expiry or early
    refund     bigint      not null default 0 check (refund >= 0),
    ending     text check (ending in ('cancelled', 'closed')), -- how the host's backend ended it before its time; null: it did not
    ended_by   text, -- who asked for that
    check (opens_at < expires_at),
    check (refund_to <> escrow),
    check ((kind = 'exclusive') = (recipients is not null)),
    check (refund = 0 or closed_at is not null),
    constraint packet_ended_early check ((ending is null) = (ended_by is null) and (ending is null or refund > 0)),
    constraint packet_cancelled_unclaimed check (ending is distinct from 'cancelled' or refund = amount),
    constraint packet_is_committed
        check (commitment = packet_commitment(id, seed, asset, amount, count, min, max, split, split_version)),
    -- An id of a user or a group: no blank, no quote. Statements and journals separate ids by blanks. account, play and feed have no such
    -- check: every claim, play or event would pay for it.
    constraint packet_ids check (sender ~ '^[!#-&(-_a-~]{1,128}$' and group_id ~ '^[!#-&(-_a-~]{1,128}$')
);
create index packet_open on packet (shard, id) where closed_at is null;
create index packet_due on packet (shard, expires_at) where closed_at is null;
create index packet_sender on packet (sender, id);
create index packet_group on packet (group_id, id);
-- Lists of packets by how they ended. Neither a send nor a claim writes into them: a refund does.
create index packet_refunded on packet (id) where refund > 0;
create index packet_ended_early on packet (id) where ending is not null;

-- The amounts of a packet's slots, a thousand slots a row, so that nobody reads all of a large packet for one share. They are
-- written just before their packet, in its transaction, and never change.
create table packet_amounts (
    packet  uuid     not null,
    block   integer  not null check (block >= 0), -- of the slots from block * 1000 on
    amounts bigint[] not null,
    primary key (packet, block)
) partition by range (packet);

-- A closed packet whose remainder is still in its escrow: at its close somebody held the row of the account that it goes back to. packet.refund
-- is the amount. The owner of the shard pays it, see pay_refunds; nothing else removes a row.
create table refund_due (
    packet    uuid        primary key,
    shard     smallint    not null,
    refund_to bigint      not null,
    at        timestamptz not null default now()
);
create index refund_due_to on refund_due (refund_to);

-- Packets and draws that are set aside, because Postgres refuses what the journal holds of them: an operator decides. A whole packet or
-- draw, not one of its entries: the next ones follow from it (a slot that is left out would be a gap). While it is
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

-- Draws ---------------------------------------------------------------------------------------------------------------
-- The money of a draw. Awards that are amounts are put into the draw's escrows (one an asset) when it is made, from the
-- owner's wallet. What players pay goes from their wallets into the draw's hold account before the script decides; it
-- comes back when the script refuses, and stays there otherwise, until the close gives it to the owner with what is left in
-- the escrows. So: hold = Σ cost of requests held + cost * plays; escrow = Σ (stock - issued) * amount.

create table draw (
    id          uuid primary key,
    shard       smallint    not null references shard,
    owner       text        not null, -- who made it: pays the awards, gets the proceeds
    group_id    text,
    mode        text        not null check (mode in ('table', 'weights', 'schedule')),
    definition  jsonb       not null, -- as the maker wrote it, without codes
    cost        bigint      not null default 0 check (cost >= 0 and cost < 100000000000000),
    hold        bigint      references account, -- null: a free draw
    carry_over  boolean     not null default true,
    seed        bytea       not null check (length(seed) = 32), -- of all its chance; told to nobody before the draw is closed
    commitment  bytea       not null check (length(commitment) = 32), -- to the seed and the definition
    created_at  timestamptz not null default now(),
    opens_at    timestamptz not null,
    closes_at   timestamptz not null, -- before opens_at when it was ended before it opened: then it never opens
    closed_at   timestamptz,
    final_table jsonb, -- what was issued and what was left, checked at the close
    check ((cost > 0) = (hold is not null)),
    check ((closed_at is null) = (final_table is null)),
    constraint draw_ids check (owner ~ '^[!#-&(-_a-~]{1,128}$' and group_id ~ '^[!#-&(-_a-~]{1,128}$')
);
create index draw_open on draw (shard, id) where closed_at is null;
create index draw_owner on draw (owner, id);
create index draw_group on draw (group_id, id) where group_id is not null;
create index draw_due on draw (closes_at) where closed_at is null; -- with many open draws each look read them all

create table prize (
    draw         uuid     not null references draw,
    n            smallint not null check (n >= 1), -- its number; the fallback is the last
    name         text     not null,
    amount       bigint   not null default 0 check (amount >= 0 and amount < 100000000000000), -- of the award; 0: no amount
    escrow       bigint   references account,
    stock        bigint   check (stock > 0), -- null: no limit
    issued       bigint   not null default 0 check (issued >= 0),
    round        bigint   not null default 1, -- the latest round in which it was issued
    round_issued bigint   not null default 0, -- how many in that round
    planned      bigint   not null default 0 check (planned >= 0), -- taken from the stock for the schedule
    announced    boolean  not null, -- whether its wins are told in the group's feed
    primary key (draw, n),
    constraint prize_in_stock check (stock is null or issued <= stock), -- invariant I10
    constraint prize_planned_in_stock check (stock is null or planned <= stock),
    check ((amount > 0) = (escrow is not null)),
    check (amount = 0 or stock is not null)
) with (fillfactor = 70);

-- The k-th issue of a prize hands out its k-th code, so a code is handed out once because (draw, prize, nth) is unique.
create table code (
    draw  uuid     not null,
    prize smallint not null,
    nth   bigint   not null check (nth >= 1),
    code  text     not null,
    primary key (draw, prize, nth),
    foreign key (draw, prize) references prize
);

-- A request of plays whose cost is held, or was returned. Its id is a digest of draw, user and key. What is played is in its plays:
-- then its row here is gone. A free request has none.
create table play_request (
    id         uuid primary key,
    draw       uuid        not null,
    user_id    text        not null,
    plays      smallint    not null check (plays >= 1),
    cost       bigint      not null check (cost > 0), -- of all its plays
    attempt    uuid        not null, -- names the try: the script decides an attempt once, a request that was returned gets another
    status     text        not null check (status in ('held', 'returned')),
    reason     text, -- of a return
    held_at    timestamptz not null default now(),
    decided_at timestamptz,
    check ((status = 'held') = (decided_at is null))
);
create index play_request_held on play_request (held_at) where status = 'held';
create index play_request_returned on play_request (decided_at) where status = 'returned';

-- One play of a request under one key: all its plays are here, or none.
create table play (
    draw       uuid        not null,
    seq        bigint      not null check (seq >= 0), -- its place in the draw, from 0
    request    uuid        not null,
    nth        bigint      not null check (nth >= 1), -- the how many-th of its prize
    round      bigint      not null,
    at         timestamptz not null, -- the time that decided what was due and which day it counts for
    settled_at timestamptz not null default now(),
    prize      smallint    not null,
    part       smallint    not null check (part >= 0), -- its place in the request, from 0
    period     integer, -- of the release it took; null for none
    release    integer,
    loaded     integer, -- the last period that was on the schedule in Redis, -1 for none; null without a schedule
    user_id    text        not null,
    primary key (draw, seq),
    -- Invariant I10: a request is settled once. Its id is a digest of its draw, too; it comes first, so that it is found without the draw.
    constraint play_once unique (request, part, draw),
    unique (draw, prize, nth)
) partition by range (draw);
create unique index play_takes_release on play (draw, period, prize, release) where period is not null;
create index play_user on play (user_id, draw, seq);

-- What the script remembers of a user, for draws that have rules about users. Settled with the plays it counts.
create table player (
    draw     uuid     not null,
    user_id  text     not null,
    counters bigint[] not null,
    primary key (draw, user_id)
) with (fillfactor = 80);

-- A period that is planned: its row is what makes planning happen once.
create table period (
    draw       uuid        not null references draw,
    n          integer     not null check (n >= 0),
    starts_at  timestamptz not null,
    ends_at    timestamptz not null,
    planned_at timestamptz not null default now(),
    ended_at   timestamptz, -- when what nobody took returned to the stock
    primary key (draw, n)
);
create index period_unended on period (draw, n) where ended_at is null;

-- A scheduled prize: it can be taken from its moment on.
create table release (
    draw      uuid        not null,
    period    integer     not null,
    prize     smallint    not null,
    n         integer     not null check (n >= 1),
    moment    timestamptz not null,
    withdrawn boolean     not null default false, -- returned to the stock
    primary key (draw, period, prize, n),
    foreign key (draw, period) references period,
    foreign key (draw, prize) references prize
);

-- Quotas that differ from the definition's, for periods that are not planned yet.
create table quota (
    draw   uuid     not null,
    prize  smallint not null,
    period integer  not null,
    quota  bigint   not null check (quota >= 0),
    primary key (draw, prize, period),
    foreign key (draw, prize) references prize
);

-- What the host has done about a prize that was won. A row for each change, and never an update: the state of a won prize is its last row. Without a row it is what the server itself has
-- done: 'done' where it paid an amount or gave out a code, else 'pending'. The play is there when this is written, see points_to_a_row.
create table fulfilment (
    draw  uuid        not null,
    seq   bigint      not null, -- of the play
    n     smallint    not null check (n between 1 and 100), -- its place among the play's changes
    state text        not null check (state in ('pending', 'sent', 'done')),
    note  text        check (length(note) between 1 and 500),
    actor text        not null, -- who changed it
    at    timestamptz not null default now(),
    primary key (draw, seq, n)
);

-- Campaigns and rains -------------------------------------------------------------------------------------------------

-- Campaigns: a budget of the sponsor, from which its users open pools. A pool is a packet whose payer is the campaign: it is sent by
-- send_packets, claimed, closed and refunded as every packet is.
--
-- The money of a campaign. Its escrow gets the budget when it is made, and what the budget is raised by ('fund', from the sponsor's
-- wallet). A pool is paid from it ('send'), and what nobody claimed of a pool goes back into it ('refund'). What is left at the end
-- goes to the sponsor's wallet, once ('refund' of the campaign). So: escrow = budget - pools + refunds of pools - returned.
create table campaign (
    id         uuid primary key,
    kind       text        not null check (kind in ('campaign', 'rain')), -- of a rain the server itself opens all pools, see rain
    shard      smallint    not null references shard, -- of all its pools too: a script decides about them together
    sponsor       text        not null, -- who made it
    name       text        not null,
    asset      text        not null,
    zone       text        not null, -- in which its days begin
    definition jsonb       not null, -- as the sponsor wrote it
    escrow     bigint      not null unique references account,
    refund_to  bigint      not null references account, -- the sponsor's wallet
    budget     bigint      not null, -- all that was put in
    created_at timestamptz not null default now(),
    opens_at   timestamptz not null,
    ends_at    timestamptz not null,
    paused_at  timestamptz, -- no pool is opened from then on; null: not paused
    -- It was ended before its time, and some of its pools have not been yet: they expire later than it ends.
    pools_go_on boolean    not null default false,
    closed_at  timestamptz, -- when what was left was returned
    returned   bigint      not null default 0 check (returned >= 0),
    constraint campaign_budget check (budget > 0 and budget < 100000000000000),
    check (opens_at <= ends_at),
    check (refund_to <> escrow),
    check (returned = 0 or closed_at is not null),
    constraint campaign_ids check (sponsor ~ '^[!#-&(-_a-~]{1,128}$')
);
create index campaign_due on campaign (ends_at) where closed_at is null;
create index campaign_sponsor on campaign (sponsor, id);

-- What makes a packet a pool. Its row comes with the packet's and never changes.
create table pool (
    packet   uuid    primary key references packet,
    campaign uuid    not null references campaign,
    product  text    not null,
    opener   text    not null, -- the user who opened it
    day      integer not null -- on which it was opened, in the campaign's zone: days since 1970-01-01
);
create index pool_of_opener on pool (campaign, opener, product);
create index pool_opened on pool (opener, packet); -- a user's own, the newest first
create index pool_of_campaign on pool (campaign, day, product);

-- Which command raised a campaign's budget: the transfer belongs to the campaign, as the first one does. The transfer is there when this is
-- written, see points_to_a_row.
create table budget_raise (
    campaign uuid   not null references campaign,
    transfer bigint not null,
    command  uuid   not null unique references command,
    primary key (campaign, transfer)
);

-- Rains (红包雨): a campaign whose pools, the drops, the server itself opens, each at a moment drawn beforehand. A drop is a packet: it is
-- sent by send_packets when the rain is made, opens at its moment, is claimed, closed and refunded as every packet is. Money, limits
-- and the end are the campaign's; its opens_at is when it was made, since all its pools are sent then.
create table rain (
    id         uuid primary key references campaign,
    channel    text        not null check (channel = 'rain:' || id::text), -- the group of its drops
    public     boolean     not null, -- whether everybody may see and claim them
    groups     text[]      not null, -- else the members of these
    starts_at  timestamptz not null,
    last_at    timestamptz not null, -- drops fall before it
    ends_at    timestamptz not null, -- as planned: a campaign's end is brought forward when it is cancelled
    drops      integer     not null check (drops > 0),
    seed       bytea       not null check (length(seed) = 32), -- of the moments; told to nobody before the end
    commitment bytea       not null,
    cancelled_at timestamptz,
    -- What is told in the feeds.
    started    boolean     not null default false,
    caught     integer     not null default 0,
    told_at    timestamptz not null default '-infinity', -- of the latest count
    ended      boolean     not null default false,
    check (public = (groups = '{}')),
    check (starts_at < last_at and last_at < ends_at),
    constraint rain_is_committed check (commitment = sha256((
        'hongbao-rain-v1' || e'\n' || 'id=' || id::text || e'\n' || 'seed=' || encode(seed, 'hex') || e'\n'
        || 'from=' || round(extract(epoch from starts_at) * 1000)::bigint::text || e'\n'
        || 'to=' || round(extract(epoch from last_at) * 1000)::bigint::text || e'\n'
        || 'drops=' || drops::text || e'\n')::bytea))
) with (fillfactor = 70);
create index rain_going on rain (starts_at) where not ended;

-- The groups' feeds ---------------------------------------------------------------------------------------------------
-- What happened in a group, in an order of each group's own, for as long as a client may have been away.

-- One row a group. Who appends holds it until the commit, so places are given in the order of commits: a reader that has
-- seen a place has seen, or will never see, every place before it.
create table feed (
    group_id text   primary key,
    last     bigint not null default 0, -- the place of the newest event
    floor    bigint not null default 0, -- events up to here may have been removed
    -- Who changed it last. What was committed after a snapshot was taken has an xid of at least that snapshot's xmin: so
    -- "which groups have events?" is one look into this index, however many groups there are.
    touched  xid8   not null default pg_current_xact_id()
) with (fillfactor = 70);
create index feed_touched on feed (touched);

-- Only what is needed to tell the event: a packet's terms, its claims and its end, and a draw's terms, are read where they are.
create table group_event (
    group_id text        not null,
    seq      bigint      not null check (seq > 0),
    type     text        not null,
    subject  uuid        not null, -- the packet, the draw or the rain
    claimed  integer     not null check (claimed >= 0), -- settled claims, for packet.progress, rain.caught and rain.ended; wins, for draw.won
    amount   bigint, -- of settled claims, minor units, for rain.caught and rain.ended
    wins     jsonb, -- for draw.won, the newest of them: [{seq, user, prize}]
    at       timestamptz not null default now(),
    primary key (group_id, seq)
);
-- Progress is cumulative: it moves to a new place and leaves the old one. A rain is told in several groups.
create unique index group_event_once on group_event (subject, type, group_id) where type <> 'draw.won';
create index group_event_at on group_event (at);

-- Packets that are sent but may not be claimable yet: packet.sent follows the load.
create table unannounced (
    packet  uuid primary key,
    sent_at timestamptz not null default now()
);

-- Draws of groups whose end is not told yet, and how much of them is told.
create table draw_feed (
    draw     uuid primary key references draw,
    group_id text        not null,
    opens_at timestamptz not null,
    opened   boolean     not null default false, -- draw.opened is told
    told     bigint      not null default -1, -- plays up to this place in the draw are told
    told_at  timestamptz not null default '-infinity' -- of the latest draw.won
) with (fillfactor = 70);
create index draw_feed_unopened on draw_feed (opens_at) where not opened;
create index draw_feed_told on draw_feed (group_id, told_at);

-- Draws whose opening the host is not told yet.
create table draw_unopened (
    draw     uuid        primary key references draw,
    opens_at timestamptz not null
);
create index draw_unopened_at on draw_unopened (opens_at);

-- The outbox and webhooks ---------------------------------------------------------------------------------------------

-- Events for the host application: the outbox. Every fact that is settled is told once, by the row of the statement that settled it.
--
-- Triggers write the rows, so nobody can move money, end a packet or settle a play and forget to tell. A row names facts and
-- holds none: the books are read when it is told.
create table outbox (
    -- Its place. The facts of a shard are settled under the lock of the shard's row, so its rows commit in the order of n. -1: of no
    -- shard (sends, deposits, withdrawals, reversals, holds), which commit in any order: see OutboxHead.
    shard    smallint    not null check (shard >= -1),
    n        bigint      generated always as identity,
    id       uuid        not null default gen_random_uuid(), -- its events' ids begin with it; a restored database draws others
    type     text        not null,
    subjects uuid[]      not null, -- packets, draws or commands; of a restriction whom it is about, as a uuid
    firsts   bigint[], -- of each subject: its first slot or play, its transfer or restriction; null when the subject says it all
    lasts    bigint[], -- and the last one; of a fulfilment its place among the play's changes
    events   integer     not null check (events > 0),
    at       timestamptz not null default now(),
    primary key (shard, n)
);
-- Too large for a row only when many packets are settled at once; then to compress them costs more than to write them.
alter table outbox
    alter column subjects set storage external,
    alter column firsts set storage external,
    alter column lasts set storage external;

-- One row, made at the first start as the installation's is. A cursor of another era is of a history that this database has lost.
create table outbox_state (
    one   boolean primary key default true check (one),
    era   uuid    not null default gen_random_uuid(),
    floor bigint  not null default 0 -- rows up to here may have been removed
);

-- Who is told. One server at a time delivers, see WebhookVerticle; each change of a position names the one before, so that a server that
-- was replaced changes nothing.
create table webhook (
    id            uuid        primary key, -- UUIDv7
    url           text        not null,
    types         text[]      not null check (cardinality(types) > 0),
    batch         integer     not null check (batch between 1 and 1000), -- events of one message at the most
    created_at    timestamptz not null default now(),
    position      text        not null, -- a cursor: what comes after it is not delivered
    low           bigint      not null, -- rows of the outbox up to here are delivered
    attempts      integer     not null default 0, -- failed ones in a row
    failing_since timestamptz,
    next_at       timestamptz not null default now(), -- of the next attempt
    disabled_at   timestamptz,
    reason        text, -- why it is disabled; 'paused' when the host did it
    check ((disabled_at is null) = (reason is null))
);

-- Each message is signed with all that have not ended.
create table webhook_secret (
    id      uuid        primary key, -- UUIDv7
    webhook uuid        not null references webhook on delete cascade,
    secret  text        not null,
    ends_at timestamptz -- null for the newest
);
create index webhook_secret_of on webhook_secret (webhook);

-- The latest attempts, for people.
create table webhook_delivery (
    webhook uuid        not null references webhook on delete cascade,
    n       bigint      generated always as identity,
    message text        not null, -- its webhook-id
    after   text        not null, -- the position before it
    events  integer     not null,
    status  integer, -- of the answer; null for none
    error   text, -- why there was none
    millis  integer     not null,
    at      timestamptz not null default now(),
    primary key (webhook, n)
);

-- Who may, and who did ------------------------------------------------------------------------------------------------

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
    constraint restriction_of_group check (scope = 'user' or kind = 'blocked'),
    constraint restriction_ids check (subject ~ '^[!#-&(-_a-~]{1,128}$')
);
create index restriction_of on restriction (scope, subject, kind, n);

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

-- How a user is shown. A row without a name and a picture says that the user's id is to be shown, whatever tokens say. It is changed and
-- deleted in place: who is to be forgotten leaves nothing.
create table profile (
    user_id      text        primary key,
    display_name text        check (length(display_name) between 1 and 64),
    avatar       text        check (length(avatar) between 1 and 500),
    given_by     text        not null check (given_by in ('service', 'token')), -- what a token says never replaces what the service said
    changed_at   timestamptz not null default now(),
    check (given_by = 'service' or display_name is not null or avatar is not null),
    constraint profile_ids check (user_id ~ '^[!#-&(-_a-~]{1,128}$')
);

-- Who called for the host, and who was refused: never what a call held, no token, no passcode. Written by audit_append alone, in the
-- order of n and of at.
create table audit_log (
    n         bigint      primary key,
    at        timestamptz not null, -- when it was written, by this clock: at the end of the call, or of what `times` counts
    actor     text, -- the token's subject; null for a call without a valid token
    role      text,
    address   text, -- where a call without a valid token came from
    request   text, -- the request's id, when it had one
    method    text        not null,
    route     text        not null, -- as the contract writes it: /v1/accounts/{user}/deposits
    subject   text, -- whom or what the path names; null for nothing
    status    smallint    not null,
    problem   text, -- the end of the problem's type; null for none
    reference text, -- the host's own name for what it asked for; null for none
    times     bigint      not null default 1 check (times >= 1), -- so many calls alike: this one stands for those that were not written
    missed    bigint      not null default 0 check (missed >= 0) -- rows before this one that the server could not keep
);
create index audit_log_at on audit_log (at, n);
create index audit_log_actor on audit_log (actor, at, n) where actor is not null;

-- The last row that was removed, so that it is known how the log begins; 0 for none.
create table audit_floor (
    one boolean primary key default true check (one),
    n   bigint  not null default 0
);
insert into audit_floor default values;

-- Months --------------------------------------------------------------------------------------------------------------

-- The months. transfer, packet_amounts and play have a part for each month: what is written and read today stays small, and an old month can
-- be put away as a whole. A row belongs to the month (UTC) in which its UUIDv7 was made: a packet's claims stand together, whenever they come.
-- make_month makes the parts: a server does so at its start, before its first row, and from then on ahead of time. A row of no month that has
-- a part stands in the table's part named _other: nothing is ever refused for that.
create table transfer_other partition of transfer default;
create table packet_amounts_other partition of packet_amounts default;
create table play_other partition of play default;

-- An error names the index of the part: it begins with the table's, as make_month has it for a month.
do $$
declare
    made record;
begin
    for made in select i.inhrelid::regclass as index, i.inhparent::regclass || '_other' as name
                from pg_inherits as i join pg_index as x on x.indexrelid = i.inhrelid
                where x.indrelid in ('transfer_other'::regclass, 'packet_amounts_other'::regclass, 'play_other'::regclass)
    loop
        execute format('alter index %s rename to %I', made.index, made.name);
    end loop;
end
$$;

-- Reconciliation ------------------------------------------------------------------------------------------------------

-- What moved so far, by kind and asset: every transfer is counted once, whichever server counts. See count_turnover.
create table turnover (
    place     integer generated always as identity, -- an asset's first one is its turn among the assets
    kind      text    not null, -- of the transfers
    asset     text    not null,
    transfers bigint  not null,
    amount    numeric not null, -- minor units
    primary key (kind, asset)
);
create table turnover_place (
    one       boolean primary key default true check (one),
    counted   bigint  not null default 0, -- every transfer up to this id is counted
    begun     bigint  not null default 0, -- the next ones are counted up to this id,
    waits_for xid8    not null default '0' -- once no transaction before this one is under way
);
insert into turnover_place default values;

-- Where the next run of `hongbao reconcile --since-checkpoint` starts.
create table checkpoint (
    one      boolean primary key default true check (one),
    transfer bigint  not null default 0, -- every transfer up to this id is reconciled, with all that it touched
    summed   bigint  not null default 0  -- the sums below are up to this id; no further transfer will ever have such an id
);
insert into checkpoint default values;

-- Of each account the sum of its transfers; without a row it is 0.
create table checkpoint_balance (
    account bigint  primary key,
    balance bigint  not null,
    is_due  boolean not null default false -- whether it moved since it was compared with the account
);
create index checkpoint_balance_due on checkpoint_balance (account) where is_due;

-- Packets, draws, campaigns and commands of which something became, and that no run has found clean since.
create table checkpoint_due (
    subject uuid primary key
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
