package dev.hongbao.tools.chaos.fault;

import dev.hongbao.tools.chaos.bed.ChaosBed;
import dev.hongbao.tools.chaos.bed.Member;
import dev.hongbao.tools.chaos.bed.PostgresSide;
import dev.hongbao.tools.local.LossyProxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What happens to Postgres, for all servers. */
final class PostgresFaults {
    static final String RESTORED = "postgres: restored to an earlier backup";

    static final String PROMOTED = "postgres: lagging replica promoted";

    private static final String PLACE = "postgres";
    private static final int MOST_LOST_MILLIS = 1_500;
    private static final int FEW = 3;
    private static final int UNLIMITED = -1;

    /** What Postgres says to who waited too long for a lock. */
    private static final String LOCKED = "55P03";

    private static final String OF_SERVERS = "select pg_terminate_backend(pid) from pg_stat_activity"
            + " where application_name like 'hongbao%' and pid <> pg_backend_pid()";

    static final String OWNERS = OF_SERVERS + " and pid in (select pid from pg_locks where locktype = 'advisory')";

    private static final List<String> TABLES = List.of("packet", "account", "transfer", "shard", "outbox");

    private static final FaultKind DISK_FULL = new FaultKind(
            "postgres: disk full",
            (name, bed, random) -> new Fault(
                    name,
                    PLACE,
                    Set.of(),
                    () -> bed.postgres().fillDisk(),
                    () -> bed.postgres().freeDisk()));

    private static final List<FaultKind> ALL = List.of(
            ended("postgres: kill -9", PostgresSide::kill),
            ended("postgres: immediate shutdown", PostgresSide::shutDownImmediately),
            new FaultKind(
                    "postgres: backends terminated",
                    (name, bed, random) -> once(name, () -> bed.postgres().rows(OF_SERVERS))),
            new FaultKind(
                    "postgres: owners' locks terminated",
                    (name, bed, random) -> once(name, () -> bed.postgres().rows(OWNERS))),
            new FaultKind(
                    "postgres: answers lost",
                    (name, bed, random) -> once(name, () -> lines(bed, LossyProxy::loseAnswers))),
            new FaultKind(
                    "postgres: connections swallowed",
                    FaultKind.Cost.SILENCE,
                    (name, bed, random) -> once(name, () -> lines(bed, LossyProxy::swallow))),
            new FaultKind(
                    "postgres: silent",
                    FaultKind.Cost.SILENCE,
                    (name, bed, random) -> new Fault(
                            name,
                            PLACE,
                            Set.of(),
                            () -> lines(bed, LossyProxy::fallSilent),
                            () -> lines(bed, LossyProxy::comeBack))),
            new FaultKind(RESTORED, PostgresFaults::restored),
            new FaultKind(PROMOTED, PostgresFaults::promoted),
            new FaultKind("postgres: no connections to spare", PostgresFaults::crowded),
            new FaultKind("postgres: slow", PostgresFaults::slow),
            new FaultKind("postgres: a table locked", PostgresFaults::locked));

    private PostgresFaults() {}

    static List<FaultKind> all() {
        List<FaultKind> all = new ArrayList<>(ALL);
        all.addAll(PostgresSide.isFillable() ? List.of(DISK_FULL) : List.of());
        return all;
    }

    private static FaultKind ended(String named, Consumer<PostgresSide> how) {
        return new FaultKind(
                named,
                (name, bed, random) -> new Fault(
                        name,
                        PLACE,
                        Set.of(),
                        () -> how.accept(bed.postgres()),
                        () -> bed.postgres().startAgain()));
    }

    private static Fault once(String name, Fault.Step inject) {
        return new Fault(name, PLACE, Set.of(), inject, Fault.NOTHING);
    }

    private static void lines(ChaosBed bed, Consumer<LossyProxy> what) {
        bed.members().stream().map(Member::postgres).forEach(what);
    }

    /** Of what was done between the backup and the restoration nothing is left. */
    private static Fault restored(String name, ChaosBed bed, SplittableRandom random) {
        long millis = random.nextInt(MOST_LOST_MILLIS);
        return once(name, () -> {
            bed.postgres().backUp();
            TimeUnit.MILLISECONDS.sleep(millis);
            bed.postgres().restore();
        });
    }

    /** Of what was done since the replica was held back nothing is left. */
    private static Fault promoted(String name, ChaosBed bed, SplittableRandom random) {
        long millis = random.nextInt(MOST_LOST_MILLIS);
        return new Fault(
                name,
                PLACE,
                Set.of(),
                () -> {
                    if (!bed.postgres().holdReplicaBack()) {
                        throw new Fault.FaultMissedException("the replica lags too much");
                    }
                    TimeUnit.MILLISECONDS.sleep(millis);
                    bed.postgres().promote();
                    bed.leadToPostgres();
                },
                () -> bed.postgres().replaceReplica());
    }

    private static Fault crowded(String name, ChaosBed bed, SplittableRandom random) {
        return new Fault(
                name,
                PLACE,
                Set.of(),
                () -> {
                    bed.postgres().limitConnections(FEW);
                    bed.postgres().rows(OF_SERVERS);
                },
                () -> bed.postgres().limitConnections(UNLIMITED));
    }

    private static Fault slow(String name, ChaosBed bed, SplittableRandom random) {
        long millis = 10L + random.nextInt(150);
        return new Fault(
                name,
                PLACE,
                Set.of(),
                () -> lines(bed, line -> line.delay(millis)),
                () -> lines(bed, line -> line.delay(0)));
    }

    /** As an operator's careless {@code alter table} does. */
    private static Fault locked(String name, ChaosBed bed, SplittableRandom random) {
        String table = TABLES.get(random.nextInt(TABLES.size()));
        Held held = new Held();
        return new Fault(name, PLACE, Set.of(), () -> held.take(bed.postgres().connect(), table), held::give);
    }

    /** A session that holds a lock. */
    private static final class Held {
        private @Nullable Connection session;

        void take(Connection connection, String table) throws SQLException, Fault.FaultMissedException {
            session = connection;
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                statement.execute("set lock_timeout = '5s'");
                statement.execute("lock table " + table + " in access exclusive mode");
            } catch (SQLException refused) {
                if (LOCKED.equals(refused.getSQLState())) {
                    throw new Fault.FaultMissedException("somebody else has locked " + table);
                }
                throw refused;
            }
        }

        void give() throws SQLException {
            if (session != null) {
                session.close();
            }
        }
    }
}
