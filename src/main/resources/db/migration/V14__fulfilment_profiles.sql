-- What the host application has done about prizes that were won.

-- A row for each change, and never an update: the state of a won prize is its last row. Without a row it is what the server itself has
-- done: 'done' where it paid an amount or gave out a code, else 'pending'.
create table fulfilment (
    draw  uuid        not null,
    seq   bigint      not null, -- of the play
    n     smallint    not null check (n between 1 and 100), -- its place among the play's changes
    state text        not null check (state in ('pending', 'sent', 'done')),
    note  text        check (length(note) between 1 and 500),
    actor text        not null, -- who changed it
    at    timestamptz not null default now(),
    primary key (draw, seq, n),
    foreign key (draw, seq) references play
);

create trigger fulfilment_is_kept
    before update or delete or truncate on fulfilment
    for each statement execute function refuse_change();
