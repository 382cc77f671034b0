-- The two roles and the database of Hongbao. Run it once, as a superuser:
--   hongbao roles | psql -v owner_password=… -v app_password=… postgres
-- postgres.owner-url names the owner of the tables, whom only migrations use; postgres.url names the server's role.
-- The migrations grant the server's role what it needs: it cannot update or delete a transfer.

create role hongbao_owner login password :'owner_password';
create role hongbao_app login password :'app_password';
create database hongbao owner hongbao_owner encoding 'UTF8' template template0;
revoke all on database hongbao from public;
grant connect on database hongbao to hongbao_app;

-- So that doctor sees old transactions of other roles, and how far replicas are.
grant pg_read_all_stats to hongbao_app;

-- On a machine with a JIT, compiling takes longer than our statements do.
alter role hongbao_owner in database hongbao set jit = off;
alter role hongbao_app in database hongbao set jit = off;
