package dev.hongbao.tools.bench;

import dev.hongbao.store.postgres.PostgresAddress;
import dev.hongbao.tools.local.Jdbc;
import dev.hongbao.tools.local.Threads;
import dev.hongbao.values.Caller;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/**
 * Transfers into wallets that are not equally popular: one wallet only, and by Zipf's law. Ours are deposits, with the host's account,
 * a key and a reference. The other ways write a transfer and one balance, by many connections, in a transaction each.
 */
final class LedgerBench extends Part.OfEngine {
    private static final int ACCOUNTS = 10_000;
    private static final int CONNECTIONS = 32;

    /** Deposits under way on a loop: fewer than may wait. */
    private static final int WINDOW = 1_000;

    private static final int MILLIS = 3_000;
    private static final long SEED = 49;

    private static final String TABLES = """
        drop schema if exists way cascade;
        create schema way;
        create table way.account (id int primary key, balance bigint not null) with (fillfactor = 50);
        create table way.transfer (id uuid primary key default gen_random_uuid(), account int not null, amount bigint not null,
            at timestamptz not null default now());
        insert into way.account select n, 0 from generate_series(0, ?) n""";

    private static final String WRONG = """
        select count(*) from way.account
        left join (select account, sum(amount) as sum from way.transfer group by account) transfers on account = id
        where balance <> coalesce(sum, 0)""";

    private static final String LOCK = "select balance from way.account where id = ? for update";
    private static final String INSERT = "insert into way.transfer (account, amount) values (?, 1)";
    private static final String UPDATE = "update way.account set balance = balance + 1 where id = ?";

    private final PostgresAddress postgres;
    private final List<Caller> members = BenchBed.members(ACCOUNTS);

    LedgerBench(BenchBed bed) throws SQLException {
        super(bed);
        postgres = bed.stores().owner();
        Jdbc.execute(postgres, TABLES.replace("?", Integer.toString(ACCOUNTS - 1)));
        add("one wallet", new int[ACCOUNTS]);
        add("Zipf 2.0", zipf(2));
        add("Zipf 1.0", zipf(1));
    }

    /** @return accounts in the order of their transfers; number k has 1/k^exponent of the first one's */
    private static int[] zipf(double exponent) {
        double[] sums = IntStream.rangeClosed(1, ACCOUNTS)
                .mapToDouble(k -> Math.pow(k, -exponent))
                .toArray();
        Arrays.parallelPrefix(sums, Double::sum);
        SplittableRandom random = new SplittableRandom(SEED);
        return IntStream.range(0, 10 * ACCOUNTS)
                .map(n -> Arrays.binarySearch(sums, random.nextDouble() * sums[ACCOUNTS - 1]))
                .map(found -> found < 0 ? -found - 1 : found)
                .toArray();
    }

    private void add(String name, int[] accounts) {
        Row locked = trial.row(name + ": row lock, select for update", "transfers/s");
        Row atomic = trial.row(name + ": atomic update", "transfers/s");
        Row ours = trial.row(name + ": ours", "transfers/s").over(atomic);
        step(name + ", row lock", () -> locked.add(race(accounts, true)));
        step(name + ", atomic update", () -> atomic.add(race(accounts, false)));
        step(
                name + ", ours",
                () -> ours.add(bed.deposit(
                        trial.size(60_000, 1_000),
                        WINDOW,
                        n -> members.get(accounts[n % accounts.length]),
                        BenchBed.CNY,
                        1)));
    }

    /** By all connections, for a time. @param locks whether a transfer locks and reads its account before the update */
    private Speed race(int[] accounts, boolean locks) throws Exception {
        List<Connection> connections = new ArrayList<>();
        try {
            for (int t = 0; t < CONNECTIONS; t++) {
                connections.add(Jdbc.connect(postgres));
            }
            ProcessCpu.Used before = ProcessCpu.used(ProcessCpu.SELF);
            long begun = System.nanoTime();
            long end = begun + trial.time(MILLIS).toNanos();
            List<Callable<Integer>> tellers = new ArrayList<>();
            for (int t = 0; t < CONNECTIONS; t++) {
                int first = t;
                tellers.add(() -> transfer(connections.get(first), accounts, first, locks, end));
            }
            double count = Threads.all(CONNECTIONS, tellers).stream()
                    .mapToInt(made -> made)
                    .sum();
            double seconds = (System.nanoTime() - begun) / 1e9;
            return new Speed(
                    count / seconds,
                    ProcessCpu.used(ProcessCpu.SELF).since(before).per(count));
        } finally {
            for (Connection each : connections) {
                each.close();
            }
        }
    }

    /** @return the transfers until the end, by one connection */
    private static int transfer(Connection connection, int[] accounts, int first, boolean locks, long end)
            throws SQLException {
        try (PreparedStatement lock = connection.prepareStatement(LOCK);
                PreparedStatement insert = connection.prepareStatement(INSERT);
                PreparedStatement update = connection.prepareStatement(UPDATE)) {
            connection.setAutoCommit(false);
            int count = 0;
            for (int n = first; System.nanoTime() < end; n += CONNECTIONS) {
                int account = accounts[n % accounts.length];
                if (locks) {
                    lock.setInt(1, account);
                    lock.executeQuery().close();
                }
                insert.setInt(1, account);
                insert.executeUpdate();
                update.setInt(1, account);
                update.executeUpdate();
                connection.commit();
                count++;
            }
            return count;
        }
    }

    @Override
    void checkBooks() throws Exception {
        String wrong = Jdbc.one(postgres, WRONG);
        if (!wrong.equals("0")) {
            trial.fault(wrong + " balances are not the sum of their transfers");
        }
        super.checkBooks();
    }
}
