-- What the host application has done about prizes that were won, and what its users are called.

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

-- How a user is shown. A row without a name and a picture says that the user's id is to be shown, whatever tokens say. It is changed and
-- deleted in place: who is to be forgotten leaves nothing.
create table profile (
    user_id      text        primary key,
    display_name text        check (length(display_name) between 1 and 64),
    avatar       text        check (length(avatar) between 1 and 500),
    given_by     text        not null check (given_by in ('service', 'token')), -- what a token says never replaces what the service said
    changed_at   timestamptz not null default now(),
    check (given_by = 'service' or display_name is not null or avatar is not null)
);
