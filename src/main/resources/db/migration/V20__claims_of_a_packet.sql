-- One claim for each user and packet, as before: a user's wallets are one for each asset, and a packet has one asset. Now the packet comes
-- first: the claims of one stand together, in pages that are being written anyway. By the wallet each claim was a page of its own, and
-- after a checkpoint all of that page went to the log: transfer_in, which lists a wallet's records, costs that once already.
drop index transfer_claim;
create unique index transfer_claim on transfer (subject, credit) where slot is not null;

-- The months have theirs with it, by other names than make_month gives.
do $$
declare
    made record;
begin
    for made in select i.inhrelid::regclass as index, 'transfer_claim' || substr(part.relname, length('transfer') + 1) as name
                from pg_inherits as i join pg_index as x on x.indexrelid = i.inhrelid join pg_class as part on part.oid = x.indrelid
                where i.inhparent = 'transfer_claim'::regclass
    loop
        execute format('alter index %s rename to %I', made.index, made.name);
    end loop;
end
$$;
