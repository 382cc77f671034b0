-- The two roles and the database of Hongbao. Run it once, as a superuser:
--   hongbao roles | OWNER_PASSWORD=… APP_PASSWORD=… psql postgres
-- A psql before 15 needs -v owner_password=… -v app_password=…, which others can read while it runs.
-- postgres.owner-url has the owner of the tables, a role only for migrations; postgres.url has the server's role. The migrations grant the
-- server's role its rights: it cannot update or delete a transfer.

\getenv owner_password OWNER_PASSWORD
\getenv app_password APP_PASSWORD
create role hongbao_owner login password :'owner_password';
create role hongbao_app login password :'app_password';
create database hongbao owner hongbao_owner encoding 'UTF8' template template0;
revoke all on database hongbao from public;
grant connect on database hongbao to hongbao_app;

-- For doctor: old transactions of other roles, and the positions of replicas.
grant pg_read_all_stats to hongbao_app;

-- With a JIT, compilation takes longer than our statements.
alter role hongbao_owner in database hongbao set jit = off;
alter role hongbao_app in database hongbao set jit = off;
