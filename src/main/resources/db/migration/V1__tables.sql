-- All tables with constraints and indexes, by subject, and the functions that constraints call. The R files have the other functions, one
-- file a subject. R__80_triggers.sql has the triggers, and R__90_grants.sql the rights of the server's role.
--
-- Amounts are whole minor units (fen, points) in bigint. Rules on money are constraints and triggers, not only code.

-- The installation ----------------------------------------------------------------------------------------------------

-- The identity of this installation. A prefix of the id names its keys in a shared Redis, unless an option does. The first start makes the
-- row, not this migration: a migrated database may be copied before its first use.
create table installation (
    one boolean primary key default true check (one),
    id  uuid    not null default gen_random_uuid(),
    -- Whether a reference names one command only. The server that started last sets it.
    unique_references boolean not null default false,
    -- The key that signs messages between servers over Redis, 244 random bits. During a change, the key before is valid, too.
    line_key bytea not null default uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()),
    line_key_before bytea
);

-- Ids of users and groups have no blanks and quotes: statements and journals separate ids by blanks. account, play and feed have no such
-- check, since every claim, play or event would pay for it. (A pattern with {1,128} takes 7 µs an id.)
create function is_id(id text) returns boolean
    language sql
    immutable
return id ~ '^[!#-&(-_a-~]+$' and length(id) <= 128;

-- The ledger ----------------------------------------------------------------------------------------------------------
-- Accounts, commands and transfers. Rows of money never change: triggers refuse it, for every role.

create table account (
    id      bigint generated always as identity primary key,
    kind    text   not null check (kind in ('wallet', 'escrow', 'hold', 'source')),
    owner   text   not null, -- wallet: the user; escrow: the packet's, draw's or campaign's id; hold: the draw's id; source: 'outside'
    asset   text   not null,
    balance bigint not null default 0,
    -- For a packet's escrow: the number of settled slots, from 0 on, without gaps. 0 for other accounts. It is in this row because each
    -- settlement of the packet writes the row anyway.
    claims  integer not null default 0,
    unique (kind, owner, asset),
    constraint account_not_negative check (kind = 'source' or balance >= 0),
    -- All money in wallets and escrows came through a source. So this bound prevents overflows in settlements.
    constraint account_in_range check (balance > -9000000000000000000),
    constraint account_counts_claims check (claims >= 0 and (claims = 0 or kind = 'escrow'))
) with (fillfactor = 45); -- room for a second version of every row: only balance and claims change, and no index holds them

-- Commands that moved money, with their actor and reason. One row for each use of an idempotency key. A command's id is the subject of its
-- transfers: a send has its packet's id, a draw's command its draw's, a campaign's or rain's its campaign's. See also budget_raise. The row
-- outlives the key.
create table command (
    id        uuid        primary key, -- UUIDv7
    operation text        not null, -- deposit, withdrawal, send, draw, campaign, budget, rain, reversal
    actor     text        not null, -- the token's subject; without a token, the user for whom the server acted
    role      text        not null check (role in ('user', 'service', 'server')), -- the token's; server: without a token
    key       text        not null, -- the idempotency key that the actor gave
    reference text        check (reference ~ '^[!-~]+$' and length(reference) <= 64), -- the host's reference; null for none
    reason    text        check (length(reason) between 1 and 200), -- null for none
    at        timestamptz not null default now() -- the time of the transaction, equal in its transfers
);
create index command_reference on command (reference, id) where reference is not null;
create index command_actor on command (actor, id);
-- Only of rare commands: nearly all are sends, deposits and withdrawals.
create index command_operation on command (operation, id) where operation not in ('send', 'deposit', 'withdrawal');

-- Transfers. A claim is a transfer from the packet's escrow to a wallet, with the slot of its share. One row holds both, so a claim and its
-- money cannot differ. Balances follow the transfers: see transfer_moves_balances.
create table transfer (
    subject uuid        not null, -- its packet, draw or campaign, or the command that made it; UUIDv7
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
-- One claim for each user and packet, since a user has one wallet an asset, and a packet has one asset. The packet comes first: its claims
-- are together, in pages that are being written anyway.
create unique index transfer_claim on transfer (subject, credit) where slot is not null;

-- The records of a wallet. Escrows are read by their subject, so a claim costs one of these entries, not two.
create index transfer_in on transfer (credit, id)
    where kind in ('deposit', 'claim', 'refund', 'return', 'award', 'proceeds', 'reversal');
create index transfer_out on transfer (debit, id) where kind in ('withdrawal', 'send', 'fund', 'cost', 'reversal');

-- Transfers are written nearly in the order of time and of ids, so a range of either is a range of pages. These indexes cost a claim
-- nothing: summarize_transfers fills them. (Autosummarize would leave out much of a burst: it waits for a vacuum, and keeps 256 requests.)
create index transfer_at on transfer using brin (at) with (pages_per_range = 32);
create index transfer_id on transfer using brin (id) with (pages_per_range = 32);

-- The results of commands by idempotency key. The command's own transaction writes the row, so only a success binds a key.
create table idempotency (
    user_id     text        not null,
    operation   text        not null,
    key         text        not null,
    fingerprint bytea       not null, -- of the command; a key with another fingerprint is refused
    subject     uuid        not null, -- the packet or draw that it made, or the command of a deposit or a withdrawal
    transfer    bigint, -- the id of its transfer; null for a draw
    at          timestamptz not null default now(),
    primary key (user_id, operation, key)
);
create index idempotency_at on idempotency (at);

-- Assets. An asset is declared before its first use, since a mistyped code would be a new kind of money.
create table asset (
    code        text        primary key check (code ~ '^[A-Z][A-Z0-9_-]{0,15}$'),
    scale       smallint    not null check (scale between 0 and 9), -- digits behind the point: 2 for CNY, whose minor unit is the fen
    symbol      text        not null check (char_length(symbol) between 1 and 8),
    senders     text        not null default 'everybody' check (senders in ('everybody', 'service')),
    packet_cap  bigint      check (packet_cap > 0), -- on one packet's amount, minor units; null for none, also below
    share_cap   bigint      check (share_cap > 0), -- on one share
    day_cap     bigint      check (day_cap > 0), -- on the sum that one sender puts into packets on a day in UTC
    declared_at timestamptz not null default now(),
    capped      boolean     not null
        generated always as (packet_cap is not null or share_cap is not null or day_cap is not null) stored
);
create index asset_capped on asset (code) where capped;

-- A wallet's sum put into packets on its latest day with a send. Only for assets with a cap a day.
create table sent_on_day (
    wallet bigint primary key,
    day    date   not null, -- in UTC
    amount bigint not null check (amount > 0)
) with (fillfactor = 50);

-- Reversals. A new transfer takes a transfer back; nothing is edited. A transfer is reversed at most once, and a reversal never.
-- points_to_a_row checks that the transfer exists: a foreign key would keep its month for ever.
create table reversal (
    command  uuid   primary key references command, -- the subject of the reversing transfer
    subject  uuid   not null, -- with `transfer`: the reversed transfer
    transfer bigint not null,
    unique (subject, transfer)
);

-- Shards and packets --------------------------------------------------------------------------------------------------

-- One row a shard: its generation (epoch for order, nonce for identity) and its cursor. For both, this row is the truth.
create table shard (
    id       smallint primary key check (id >= 0),
    epoch    bigint   not null default 0 check (epoch >= 0), -- 0: no generation yet; the owner's recovery draws the first one
    nonce    text     not null default '',
    last_seq bigint   not null default 0 check (last_seq >= 0), -- the last journal entry settled
    replid   text     not null default '', -- Redis' master_replid when the generation was drawn
    -- The latest epoch drawn after this database went back in time (a restored backup, a promoted replica without some commits). A server's
    -- knowledge from an earlier epoch may be of lost commits. 0: none.
    restored bigint   not null default 0 check (restored between 0 and epoch)
);

-- A packet's commitment at its send: a digest that reveals nothing of the seed, and that no other seed or terms have. The application
-- computes it, too, and anyone can once the seed is shown. The guide's page on fairness has the bytes.
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
    shard      smallint    not null, -- packet_adds_up checks that it exists
    group_id   text        not null,
    sender     text        not null,
    kind       text        not null check (kind in ('lucky', 'equal', 'exclusive')),
    asset      text        not null,
    amount     bigint      not null check (amount > 0 and amount < 100000000000000),
    count      integer     not null check (count between 1 and 100000),
    min        bigint      not null check (min >= 1 and min <= amount / count), -- the smallest share allowed
    max        bigint      not null check (max <= amount and max >= (amount + count - 1) / count), -- the largest
    split      text        not null,
    split_version smallint not null check (split_version >= 1), -- of the rules that turn a seed into shares
    seed       bytea       not null check (length(seed) = 32), -- secret until the packet is closed
    commitment bytea       not null,
    luckiest   integer     not null, -- the slot with the largest amount, ties to the earlier one
    greeting   text,
    metadata   jsonb       check (jsonb_typeof(metadata) = 'object'), -- the sender's free text; draws, campaigns and rains have it in the definition
    recipients text[],
    passcode   bytea, -- a salted digest
    escrow     bigint      not null, -- an account of its own: see packet_adds_up
    refund_to  bigint      not null, -- the account that paid, of the same asset; the refund goes there
    created_at timestamptz not null default now(),
    opens_at   timestamptz not null,
    expires_at timestamptz not null,
    closed_at  timestamptz, -- the time at which it was drained, or closed after its expiry or early
    refund     bigint      not null default 0 check (refund >= 0),
    ending     text check (ending in ('cancelled', 'closed')), -- an early end by the host's backend; null: none
    ended_by   text, -- the actor of the early end
    check (opens_at < expires_at),
    check (refund_to <> escrow),
    check ((kind = 'exclusive') = (recipients is not null)),
    check (refund = 0 or closed_at is not null),
    constraint packet_ended_early check ((ending is null) = (ended_by is null) and (ending is null or refund > 0)),
    constraint packet_cancelled_unclaimed check (ending is distinct from 'cancelled' or refund = amount),
    constraint packet_is_committed
        check (commitment = packet_commitment(id, seed, asset, amount, count, min, max, split, split_version)),
    constraint packet_ids check (is_id(sender) and is_id(group_id))
);
create index packet_open on packet (shard, id) where closed_at is null;
create index packet_due on packet (shard, expires_at) where closed_at is null;
-- For the end of a campaign: its open pools, without its closed ones.
create index packet_open_of_payer on packet (refund_to, expires_at) where closed_at is null;
create index packet_sender on packet (sender, id);
create index packet_group on packet (group_id, id);
-- For lists of packets by their end. Only a refund writes into these indexes, not a send or a claim.
create index packet_refunded on packet (id) where refund > 0;
create index packet_ended_early on packet (id) where ending is not null;

-- The amounts of a packet's slots, a thousand slots a row, so that one share of a large packet does not read all of them. They are written
-- just before their packet, in its transaction, and never change.
create table packet_amounts (
    packet  uuid     not null,
    block   integer  not null check (block >= 0), -- the slots from block * 1000 on
    amounts bigint[] not null,
    primary key (packet, block)
) partition by range (packet);

-- Closed packets whose remainder is still in their escrow, because another transaction locked the account to refund at the close.
-- packet.refund is the amount. The owner of the shard pays it by pay_refunds; nothing else removes a row.
create table refund_due (
    packet    uuid        primary key,
    shard     smallint    not null,
    refund_to bigint      not null,
    at        timestamptz not null default now()
);
create index refund_due_to on refund_due (refund_to);

-- Packets and draws set aside, because Postgres refuses an entry of theirs; an operator decides. The whole packet or draw is set aside,
-- since later entries build on earlier ones: a missing slot would be a gap. While it is here, move_cursors settles nothing of it, recovery
-- does not load it, and its money stays.
create table quarantine_unit (
    id       uuid        primary key, -- the packet's or draw's
    kind     text        not null check (kind ~ '^[a-z]+$'),
    shard    smallint    not null references shard,
    since    timestamptz not null default now(),
    sqlstate text        not null, -- of the refusal; '' for an unreadable definition
    reason   text        not null
);
create index quarantine_unit_shard on quarantine_unit (shard);

-- The journal entries of units set aside, in the journal's order.
create table quarantine (
    n    bigint      generated always as identity primary key,
    unit uuid        not null references quarantine_unit,
    verb text        not null, -- the kind of entry, as in the journal
    item text        not null, -- as the script wrote it
    at   timestamptz not null -- the time at which the cursor passed it
);
create index quarantine_of_unit on quarantine (unit, n);

-- Draws ---------------------------------------------------------------------------------------------------------------
-- The money of a draw.
-- A new draw moves all amounts that can be won from the owner's wallet into the draw's escrows, one an asset.
-- A player's cost moves from the wallet into the draw's hold account before the script decides. A refusal returns it.
-- The close pays the hold and the rest of the escrows to the owner.
-- So: hold = Σ cost of requests held + cost * plays; escrow = Σ (stock - issued) * amount.

create table draw (
    id          uuid primary key,
    shard       smallint    not null references shard,
    owner       text        not null, -- the maker: pays the awards, gets the proceeds
    group_id    text,
    mode        text        not null check (mode in ('table', 'weights', 'schedule')),
    definition  jsonb       not null, -- as the owner wrote it, without codes
    cost        bigint      not null default 0 check (cost >= 0 and cost < 100000000000000),
    hold        bigint      references account, -- null for a free draw
    carry_over  boolean     not null default true,
    seed        bytea       not null check (length(seed) = 32), -- of all its chance; secret until the draw is closed
    commitment  bytea       not null check (length(commitment) = 32), -- to the seed and the definition
    created_at  timestamptz not null default now(),
    opens_at    timestamptz not null,
    closes_at   timestamptz not null, -- before opens_at: it was ended early and never opens
    closed_at   timestamptz,
    final_table jsonb, -- issued and remaining prizes, checked at the close
    check ((cost > 0) = (hold is not null)),
    check ((closed_at is null) = (final_table is null)),
    constraint draw_ids check (is_id(owner) and is_id(group_id))
);
create index draw_open on draw (shard, id) where closed_at is null;
create index draw_owner on draw (owner, id);
create index draw_group on draw (group_id, id) where group_id is not null;
-- Else each look of an owner reads all open draws.
create index draw_due on draw (shard, closes_at) where closed_at is null;
create index draw_scheduled on draw (shard, id) where closed_at is null and mode = 'schedule';

create table prize (
    draw         uuid     not null references draw,
    n            smallint not null check (n >= 1), -- the number; the fallback is last
    name         text     not null,
    amount       bigint   not null default 0 check (amount >= 0 and amount < 100000000000000), -- of the award; 0: no amount
    escrow       bigint   references account,
    stock        bigint   check (stock > 0), -- null: no limit
    issued       bigint   not null default 0 check (issued >= 0),
    round        bigint   not null default 1, -- the latest round in which it was issued
    round_issued bigint   not null default 0, -- the number issued in that round
    planned      bigint   not null default 0 check (planned >= 0), -- taken from the stock for the schedule
    announced    boolean  not null, -- whether the group's feed announces its wins
    primary key (draw, n),
    constraint prize_in_stock check (stock is null or issued <= stock), -- invariant I10
    constraint prize_planned_in_stock check (stock is null or planned <= stock),
    check ((amount > 0) = (escrow is not null)),
    check (amount = 0 or stock is not null)
) with (fillfactor = 70);

-- The k-th issue of a prize hands out its k-th code. (draw, prize, nth) is unique, so a code is handed out once.
create table code (
    draw  uuid     not null,
    prize smallint not null,
    nth   bigint   not null check (nth >= 1),
    code  text     not null,
    primary key (draw, prize, nth),
    foreign key (draw, prize) references prize
);

-- Requests of plays whose cost is held or was returned. The id is a digest of draw, user and key. A played request is in play, and has no
-- row here. A free request has none.
create table play_request (
    id         uuid primary key,
    draw       uuid        not null,
    user_id    text        not null,
    plays      smallint    not null check (plays >= 1),
    cost       bigint      not null check (cost > 0), -- for all its plays
    attempt    uuid        not null, -- the script decides an attempt once; a request after a return gets a new attempt
    status     text        not null check (status in ('held', 'returned')),
    reason     text, -- of a return
    held_at    timestamptz not null default now(),
    decided_at timestamptz,
    check ((status = 'held') = (decided_at is null))
);
create index play_request_held on play_request (held_at) where status = 'held';
create index play_request_returned on play_request (decided_at) where status = 'returned';

-- Plays. All plays of a request are here, or none.
create table play (
    draw       uuid        not null,
    seq        bigint      not null check (seq >= 0), -- its place in the draw, from 0
    request    uuid        not null,
    nth        bigint      not null check (nth >= 1), -- the count of this prize so far, from 1
    round      bigint      not null,
    at         timestamptz not null, -- the time that decided the due releases and the day of the limits
    settled_at timestamptz not null default now(),
    prize      smallint    not null,
    part       smallint    not null check (part >= 0), -- the place in the request, from 0
    period     integer, -- of the taken release; null for none
    release    integer,
    loaded     integer, -- the last period on the schedule in Redis, -1 for none; null without a schedule
    user_id    text        not null,
    primary key (draw, seq),
    -- Invariant I10: a request is settled once. The request comes first, so that it is found without its draw.
    constraint play_once unique (request, part, draw),
    unique (draw, prize, nth)
) partition by range (draw);
create unique index play_takes_release on play (draw, period, prize, release) where period is not null;
create index play_user on play (user_id, draw, seq);

-- The script's counters of a user, for draws with limits or guarantees. Settled together with the plays that they count.
create table player (
    draw     uuid     not null,
    user_id  text     not null,
    counters bigint[] not null,
    primary key (draw, user_id)
) with (fillfactor = 80);

-- Planned periods. The row ensures that a period is planned once.
create table period (
    draw      uuid        not null references draw,
    n         integer     not null check (n >= 0),
    starts_at timestamptz not null,
    ends_at   timestamptz not null,
    ended_at  timestamptz, -- the time at which untaken releases returned to the stock
    primary key (draw, n)
);
create index period_unended on period (draw, n) where ended_at is null;

-- Scheduled prizes. A release can be taken from its moment on.
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

-- Quotas that differ from the definition, for periods that are not planned yet.
create table quota (
    draw   uuid     not null,
    prize  smallint not null,
    period integer  not null,
    quota  bigint   not null check (quota >= 0),
    primary key (draw, prize, period),
    foreign key (draw, prize) references prize
);

-- The host's fulfilment of won prizes. Each change is a row and never updated; a prize's last row is its state. A prize without a row is
-- 'done' if the server paid an amount or gave out a code, else 'pending'. points_to_a_row checks that the play exists.
create table fulfilment (
    draw  uuid        not null,
    seq   bigint      not null, -- of the play
    n     smallint    not null check (n between 1 and 100), -- the place among the play's changes
    state text        not null check (state in ('pending', 'sent', 'done')),
    note  text        check (length(note) between 1 and 500),
    actor text        not null, -- the token's subject
    at    timestamptz not null default now(),
    primary key (draw, seq, n)
);

-- Campaigns and rains -------------------------------------------------------------------------------------------------

-- Campaigns: a budget of the sponsor, from which users open pools. A pool is a packet that the campaign pays. send_packets sends it, and it is
-- claimed, closed and refunded like any packet.
--
-- The money of a campaign's escrow.
-- 'fund' moves the budget and its raises in, from the sponsor's wallet.
-- 'send' pays a pool out of it.
-- 'refund' of a pool returns its unclaimed amount.
-- 'refund' of the campaign pays the rest to the sponsor's wallet at the end, once.
-- So: escrow = budget - pools + refunds of pools - returned.
create table campaign (
    id         uuid primary key,
    kind       text        not null check (kind in ('campaign', 'rain')), -- of a rain the server itself opens all pools, see rain
    shard      smallint    not null references shard, -- of all its pools too: a script decides about them together
    sponsor       text        not null, -- the maker
    name       text        not null,
    asset      text        not null,
    zone       text        not null, -- the time zone of its days
    definition jsonb       not null, -- as the sponsor wrote it
    escrow     bigint      not null unique references account,
    refund_to  bigint      not null references account, -- the sponsor's wallet
    budget     bigint      not null, -- the sum of the budget and its raises
    created_at timestamptz not null default now(),
    opens_at   timestamptz not null,
    ends_at    timestamptz not null,
    paused_at  timestamptz, -- since then no pool is opened; null: not paused
    -- Whether it was ended early, and some of its pools are still open and expire after its end.
    pools_go_on boolean    not null default false,
    closed_at  timestamptz, -- the time at which the rest was returned
    returned   bigint      not null default 0 check (returned >= 0),
    constraint campaign_budget check (budget > 0 and budget < 100000000000000),
    check (opens_at <= ends_at),
    check (refund_to <> escrow),
    check (returned = 0 or closed_at is not null),
    constraint campaign_ids check (is_id(sponsor))
);
create index campaign_due on campaign (ends_at) where closed_at is null;
create index campaign_sponsor on campaign (sponsor, id);

-- Pools. A packet with a row here is a pool. The row is written with the packet's and never changes.
create table pool (
    packet   uuid    primary key references packet,
    campaign uuid    not null references campaign,
    product  text    not null,
    opener   text    not null, -- the user who opened it
    day      integer not null -- of the opening, in the campaign's zone: days since 1970-01-01
);
create index pool_of_opener on pool (campaign, opener, product);
create index pool_opened on pool (opener, packet); -- a user's own, the newest first
create index pool_of_campaign on pool (campaign, day, product);

-- The commands that raised a campaign's budget. Their transfers have the campaign as subject, like the first one. points_to_a_row checks
-- that the transfer exists.
create table budget_raise (
    campaign uuid   not null references campaign,
    transfer bigint not null,
    command  uuid   not null unique references command,
    primary key (campaign, transfer)
);

-- Rains (红包雨): campaigns whose pools, the drops, the server opens at moments drawn in advance. A drop is a packet. send_packets sends it
-- when the rain is made; it opens at its moment, and is claimed, closed and refunded like any packet. Money, limits and the end are the
-- campaign's. The campaign opens when the rain is made, since all its pools are sent then.
create table rain (
    id         uuid primary key references campaign,
    channel    text        not null check (channel = 'rain:' || id::text), -- the group of its drops
    public     boolean     not null, -- whether all users may see and claim them
    groups     text[]      not null, -- else only members of these
    starts_at  timestamptz not null,
    last_at    timestamptz not null, -- drops fall before this time
    ends_at    timestamptz not null, -- the planned end; a cancellation moves only the campaign's ends_at
    drops      integer     not null check (drops > 0),
    seed       bytea       not null check (length(seed) = 32), -- of the moments; secret until the end
    commitment bytea       not null,
    cancelled_at timestamptz,
    -- The state of the feeds.
    started    boolean     not null default false,
    caught     integer     not null default 0,
    told_at    timestamptz not null default '-infinity', -- the time of the latest count
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
-- Events of groups, in one order a group, kept for absent clients.

-- One row a group. An append locks it until the commit, so places follow the order of commits. A reader that has seen a place will find
-- nothing new before it.
create table feed (
    group_id text   primary key,
    -- Both are at least outbox_state.feed_base: a smaller value counts as that.
    last     bigint not null default 0, -- the place of the newest event
    floor    bigint not null default 0, -- events up to here may have been removed
    -- The transaction of the latest change. Commits after a snapshot have an xid of at least its xmin, so one look into this index finds
    -- the groups with new events, among any number of groups.
    touched  xid8   not null default pg_current_xact_id()
) with (fillfactor = 70);
create index feed_touched on feed (touched);

-- Only the event's own data. A packet's terms, claims and end, and a draw's terms, are read from their tables.
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
-- Progress is cumulative: it moves from its old place to a new one. A rain has events in several groups.
create unique index group_event_once on group_event (subject, type, group_id) where type <> 'draw.won';
create index group_event_at on group_event (at);

-- Sent packets that may not be claimable yet: packet.sent follows the load.
create table unannounced (
    packet  uuid primary key,
    sent_at timestamptz not null default now()
);

-- Draws of groups whose end the feed does not have yet, and the state of their events.
create table draw_feed (
    draw     uuid primary key references draw,
    group_id text        not null,
    opens_at timestamptz not null,
    opened   boolean     not null default false, -- whether the feed has draw.opened
    told     bigint      not null default -1, -- the feed has all wins up to this play
    told_at  timestamptz not null default '-infinity' -- the time of the latest draw.won
) with (fillfactor = 70);
create index draw_feed_unopened on draw_feed (opens_at) where not opened;
create index draw_feed_told on draw_feed (group_id, told_at);

-- Draws whose draw.opened is not in the outbox yet.
create table draw_unopened (
    draw     uuid        primary key references draw,
    opens_at timestamptz not null
);
create index draw_unopened_at on draw_unopened (opens_at);

-- The outbox and webhooks ---------------------------------------------------------------------------------------------

-- The outbox: events for the host application. The statement that settles a fact also writes its row, once.
--
-- Triggers write the rows, so no code can move money, end a packet or settle a play without one. A row only names facts: a reader takes
-- their data from the books.
create table outbox (
    -- The place is (shard, n). Facts of a shard settle under the lock of the shard's row, so its rows commit in the order of n. -1: facts
    -- of no shard (sends, deposits, withdrawals, reversals, holds), which commit in any order: see OutboxHead.
    shard    smallint    not null check (shard >= -1),
    n        bigint      generated always as identity,
    id       uuid        not null default gen_random_uuid(), -- the prefix of its events' ids; a restored database draws other ids
    type     text        not null,
    subjects uuid[]      not null, -- packets, draws or commands; for a restriction, its subject as a uuid
    firsts   bigint[], -- for each subject: its first slot or play, its transfer or restriction; null when the subject is enough
    lasts    bigint[], -- the last one; for a fulfilment, its place among the play's changes
    events   integer     not null check (events > 0),
    at       timestamptz not null default now(),
    primary key (shard, n)
);
-- These exceed a row only when many packets settle at once. Then compression costs more than writing.
alter table outbox
    alter column subjects set storage external,
    alter column firsts set storage external,
    alter column lasts set storage external;

-- One row, made at the first start, like the installation's. A cursor of another era belongs to a history that this database has lost.
create table outbox_state (
    one   boolean primary key default true check (one),
    era   uuid    not null default gen_random_uuid(),
    anew_at text, -- the start of Postgres at which the era began; null for the first one
    floor bigint  not null default 0, -- rows up to here may have been removed
    feed_base bigint not null default 0 -- the groups' feeds go on after this place
);

-- Webhooks. One server at a time delivers, see WebhookVerticle. Each change of a position names the position before, so a replaced server
-- changes nothing.
create table webhook (
    id            uuid        primary key, -- UUIDv7
    url           text        not null,
    types         text[]      not null check (cardinality(types) > 0),
    batch         integer     not null check (batch between 1 and 1000), -- the most events of one message
    created_at    timestamptz not null default now(),
    position      text        not null, -- a cursor: later events are not delivered yet
    low           bigint      not null, -- rows of the outbox up to here are delivered
    attempts      integer     not null default 0, -- failed attempts in a row
    failing_since timestamptz,
    next_at       timestamptz not null default now(), -- the time of the next attempt
    disabled_at   timestamptz,
    reason        text, -- the cause of disabled_at; 'paused': by the host
    check ((disabled_at is null) = (reason is null))
);

-- All secrets that have not ended sign each message.
create table webhook_secret (
    id      uuid        primary key, -- UUIDv7
    webhook uuid        not null references webhook on delete cascade,
    secret  text        not null,
    ends_at timestamptz -- null for the newest
);
create index webhook_secret_of on webhook_secret (webhook);

-- The latest attempts, for display.
create table webhook_delivery (
    webhook uuid        not null references webhook on delete cascade,
    n       bigint      generated always as identity,
    message text        not null, -- its webhook-id
    after   text        not null, -- the position before it
    events  integer     not null,
    status  integer, -- the HTTP status; null without an answer
    error   text, -- the cause of a missing answer
    millis  integer     not null,
    at      timestamptz not null default now(),
    primary key (webhook, n)
);

-- Access and audit ----------------------------------------------------------------------------------------------------

-- Restrictions: frozen or blocked users, and blocked groups. Each change is a row and never edited. The last row of a subject and a kind is
-- the state, and stays.
create table restriction (
    n       bigint      generated always as identity primary key, -- in the order of commits: change_restriction makes one at a time
    scope   text        not null check (scope in ('user', 'group')),
    subject text        not null,
    kind    text        not null check (kind in ('frozen', 'blocked')),
    placed  boolean     not null, -- false: lifted
    actor   text        not null, -- the token's subject
    reason  text        not null check (char_length(reason) between 1 and 200),
    at      timestamptz not null default clock_timestamp(),
    constraint restriction_of_group check (scope = 'user' or kind = 'blocked'),
    constraint restriction_ids check (is_id(subject))
);
create index restriction_of on restriction (scope, subject, kind, n);

-- Revocations: a user's tokens made before a moment are void. Rows are never edited, and a revocation is never lifted. A user's latest
-- moment counts, and stays.
create table revocation (
    n          bigint         generated always as identity primary key, -- in the order of commits: revoke_tokens makes one at a time
    user_id    text           not null,
    not_before timestamptz(0) not null, -- a whole second, like a token's iat
    actor      text           not null, -- the token's subject
    key        text           not null, -- the idempotency key of the call, kept as long as the row
    reason     text           check (char_length(reason) between 1 and 200),
    at         timestamptz    not null default clock_timestamp(),
    constraint revocation_command unique (actor, key)
);
create index revocation_of on revocation (user_id, not_before);

-- Users' names and pictures. A row without both shows the user's id, and ignores tokens. Rows are changed and deleted in place, so a
-- deleted profile leaves nothing.
create table profile (
    user_id      text        primary key,
    display_name text        check (length(display_name) between 1 and 64),
    avatar       text        check (length(avatar) between 1 and 500),
    given_by     text        not null check (given_by in ('service', 'token')), -- a token never replaces the service's profile
    changed_at   timestamptz not null default now(),
    check (given_by = 'service' or display_name is not null or avatar is not null),
    constraint profile_ids check (is_id(user_id))
);

-- Calls of the host, and refused calls; never a body, a token or a passcode. Only audit_append writes rows, in the order of n and of at.
create table audit_log (
    n         bigint      primary key,
    at        timestamptz not null, -- the time of writing, by this clock: at the end of the call, or of the calls in `times`
    actor     text, -- the token's subject; null for a call without a valid token
    role      text,
    address   text, -- the source of a call without a valid token
    request   text, -- the request's id, when it had one
    method    text        not null,
    route     text        not null, -- as in the contract: /v1/accounts/{user}/deposits
    subject   text, -- the path's parameters; null for none
    status    smallint    not null,
    problem   text, -- the end of the problem's type; null for none
    reference text, -- the host's reference; null for none
    times     bigint      not null default 1 check (times >= 1), -- the number of equal calls in this row
    missed    bigint      not null default 0 check (missed >= 0) -- the number of calls before this row that the server could not record
);
create index audit_log_at on audit_log (at, n);
create index audit_log_actor on audit_log (actor, at, n) where actor is not null;

-- The last removed row, the beginning of the log; 0 for none.
create table audit_floor (
    one boolean primary key default true check (one),
    n   bigint  not null default 0
);
insert into audit_floor default values;

-- Months --------------------------------------------------------------------------------------------------------------

-- transfer, packet_amounts and play have a part for each month. So current data stays small, and an old month can be archived as a whole.
--
-- A row belongs to the month (UTC) of its UUIDv7: a packet's claims are together, at any time.
-- A server makes the parts by make_month, at its start before the first row, and later ahead of time.
-- A row of a month without a part goes to the part _other, so no row is refused.
create table transfer_other partition of transfer default;
create table packet_amounts_other partition of packet_amounts default;
create table play_other partition of play default;

-- Errors name a part's index. Its name begins with the table's index, as make_month does for a month.
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

-- All transfers so far, by kind and asset. Each is counted once, by any server. See count_turnover.
create table turnover (
    place     bigint  generated always as identity, -- an asset's first place is its order among the assets
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
    waits_for xid8    not null default '0' -- once no transaction before this one is in progress
);
insert into turnover_place default values;

-- The start of the next `hongbao reconcile --since-checkpoint`.
create table checkpoint (
    one      boolean primary key default true check (one),
    transfer bigint  not null default 0, -- all transfers up to this id are reconciled, with everything that they touched
    summed   bigint  not null default 0  -- the sums below are up to this id; no later transfer will have such an id
);
insert into checkpoint default values;

-- The sum of each account's transfers; 0 without a row.
create table checkpoint_balance (
    account bigint  primary key,
    balance bigint  not null,
    is_due  boolean not null default false -- whether it changed since the comparison with the account
);
create index checkpoint_balance_due on checkpoint_balance (account) where is_due;

-- Packets, draws, campaigns and commands that changed, and that no run has found clean since.
create table checkpoint_due (
    subject uuid primary key
);

-- The states of draws and campaigns when found clean. They are not read again while the state is equal.
create table checkpoint_state (
    id    uuid primary key,
    state text not null
);

-- The latest run of each kind.
create table reconcile_run (
    since_checkpoint boolean     primary key, -- whether it read only data since the checkpoint, or everything
    at               timestamptz not null default now(), -- the end of the run
    clean_at         timestamptz, -- the end of the latest run without a violation; null: none
    violations       integer     not null, -- lines of the latest run
    quarantined      integer     not null,
    heals            integer     not null
);
