package dev.hongbao.testing;

import dev.hongbao.draw.odds.DrawDefinition;
import dev.hongbao.draw.odds.Seed;
import io.vertx.core.json.JsonObject;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.UUID;

/** The middle of the month before last: all that a test database holds can be moved there, as if it had happened then. */
public final class Past {
    private static final String MOVE = """
            create function past_id(id uuid, days bigint) returns uuid language sql immutable return
                case when substr(id::text, 15, 1) <> '7' then id
                     else (lpad(to_hex(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint - days * 86400000), 12, '0')
                           || substr(replace(id::text, '-', ''), 13))::uuid end;
            do $$
            declare
                days  constant bigint := %1$d;
                v7    constant text := '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}';
                t     record;
                sets  text;
            begin
                for t in select conrelid::regclass as name, conname from pg_constraint where contype = 'f' and conparentid = 0 loop
                    execute format('alter table %%s drop constraint %%I', t.name, t.conname);
                end loop;
                alter table packet drop constraint packet_is_committed;
                alter table rain drop constraint rain_is_committed;
                perform make_month(m.parent, date '%2$s') from month_tables() as m;
                for t in select oid, oid::regclass as name, relispartition as part from pg_class
                         where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
                           and relname !~ '^(flyway|archive|checkpoint|installation|shard|reconcile_run)' loop
                    execute format('alter table %%s disable trigger user', t.name);
                end loop;
                for t in select oid, oid::regclass as name from pg_class
                         where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
                           and relname !~ '^(flyway|archive|checkpoint|installation|shard|reconcile_run)' loop
                    select string_agg(format(case a.atttypid::regtype::text
                                                 when 'uuid' then '%%1$I = past_id(%%1$I, %%2$s)'
                                                 when 'uuid[]' then '%%1$I = array(select past_id(i, %%2$s) from unnest(%%1$I) with ordinality as u(i, n) order by n)'
                                                 when 'text' then '%%1$I = case when %%1$I ~ %%3$L then replace(%%1$I, substring(%%1$I from %%3$L), past_id(substring(%%1$I from %%3$L)::uuid, %%2$s)::text) else %%1$I end'
                                                 else '%%1$I = %%1$I - interval ''%%2$s days''' end, a.attname, days, v7), ', ')
                    into sets
                    from pg_attribute as a
                    where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
                      and a.atttypid::regtype::text in ('uuid', 'uuid[]', 'text', 'date', 'timestamp with time zone');
                    if sets is not null then
                        execute format('update %%s set %%s', t.name, sets);
                    end if;
                end loop;
                update packet set commitment = packet_commitment(id, seed, asset, amount, count, min, max, split, split_version);
                update rain set commitment = sha256((
                    'hongbao-rain-v1' || e'\\n' || 'id=' || id::text || e'\\n' || 'seed=' || encode(seed, 'hex') || e'\\n'
                    || 'from=' || round(extract(epoch from starts_at) * 1000)::bigint::text || e'\\n'
                    || 'to=' || round(extract(epoch from last_at) * 1000)::bigint::text || e'\\n'
                    || 'drops=' || drops::text || e'\\n')::bytea);
                for t in select oid::regclass as name from pg_class
                         where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
                           and relname !~ '^(flyway|archive|checkpoint|installation|shard|reconcile_run)' loop
                    execute format('alter table %%s enable trigger user', t.name);
                end loop;
            end
            $$;
            drop function past_id
            """;

    private final YearMonth month = YearMonth.now(ZoneOffset.UTC).minusMonths(2);
    private final long days = ChronoUnit.DAYS.between(month.atDay(15), LocalDate.now(ZoneOffset.UTC));

    /** In which all is then. */
    public YearMonth month() {
        return month;
    }

    /** What an id has become. @param id a UUIDv7 */
    public UUID of(UUID id) {
        return new UUID(id.getMostSignificantBits() - (days * 86_400_000L << 16), id.getLeastSignificantBits());
    }

    /** Moves all, once. No server is at work, and nothing is open. */
    public void move(TestServers servers) {
        try (Connection owner = TestDatabase.connect(servers.postgresOwnerUrl());
                Statement statement = owner.createStatement()) {
            statement.execute(MOVE.formatted(days, month.atDay(1)));
            commitDraws(owner);
        } catch (SQLException fault) {
            throw new IllegalStateException(fault);
        }
    }

    private static void commitDraws(Connection owner) throws SQLException {
        try (Statement read = owner.createStatement();
                ResultSet rows = read.executeQuery("select id, seed, definition from draw");
                PreparedStatement write =
                        owner.prepareStatement("update draw set commitment = decode(?, 'hex') where id = ?")) {
            while (rows.next()) {
                UUID id = rows.getObject(1, UUID.class);
                write.setString(
                        1,
                        new Seed(rows.getBytes(2))
                                .commitment(id, DrawDefinition.readStored(new JsonObject(rows.getString(3)).getMap())));
                write.setObject(2, id);
                write.executeUpdate();
            }
        }
    }
}
