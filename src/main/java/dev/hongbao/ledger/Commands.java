package dev.hongbao.ledger;

import dev.hongbao.ledger.Ledger.AccountKind;
import dev.hongbao.ledger.Ledger.TransferKind;
import dev.hongbao.ledger.Origin.Note;
import dev.hongbao.store.postgres.Rows;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Page;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import dev.hongbao.values.Uuids;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The host application's look-ups of commands that moved money, which are kept for ever. Thread-safe. */
final class Commands {
    /** Sorts after every command's id: the start of a list. */
    private static final UUID NEWEST = new UUID(-1, -1);

    /**
     * Commands with their own transfers: the first transfers of the subject, or the transfer that raised a budget. One page of them, since
     * a packet may have many claims.
     */
    private static final String SELECT = """
        select c.id, c.operation, c.actor, c.role, c.key, c.reference, c.reason, c.at,
               t.id as transfer, t.kind, t.amount, d.asset, d.kind as debit_kind, d.owner as debit_owner,
               e.kind as credit_kind, e.owner as credit_owner, r.transfer as reverses, b.command as reversed_by
        from (%s) as c
        left join lateral (
            select f.* from (select * from transfer where subject = c.id order by id limit 100) as f
            where f.kind in ('deposit', 'withdrawal', 'send', 'fund', 'reversal')
              and not exists (select from budget_raise as o where o.campaign = f.subject and o.transfer = f.id)
            union all
            select f.* from budget_raise as o join transfer as f on f.subject = o.campaign and f.id = o.transfer
            where o.command = c.id
        ) as t on true
        left join account as d on d.id = t.debit
        left join account as e on e.id = t.credit
        left join reversal as r on r.command = c.id
        left join reversal as b on b.subject = t.subject and b.transfer = t.id
        order by c.id desc, t.id
        """;

    private final Pool pool;

    public Commands(Pool pool) {
        this.pool = pool;
    }

    /** A command; refused with NOT_FOUND. */
    public Future<Command> find(UUID id) {
        return pool.preparedQuery(SELECT.formatted("select * from command where id = $1"))
                .execute(Tuple.of(id))
                .compose(rows -> {
                    List<Command> found = commands(rows);
                    return found.isEmpty()
                            ? Refusal.NOT_FOUND.failure(Text.of("command.not-found"))
                            : Future.succeededFuture(found.get(0));
                });
    }

    /**
     * Commands, newest first.
     *
     * @param reference null for all, as {@code operation} and {@code actor}
     * @param actor the caller
     * @param cursor a page's {@code next}; null for the first page
     * @param limit 1 to {@link Page#MAX_LIMIT}
     */
    public Future<Page<Command>> list(
            @Nullable String reference,
            @Nullable String operation,
            @Nullable UserId actor,
            @Nullable String cursor,
            int limit) {
        UUID before = cursor == null ? NEWEST : Uuids.parse(cursor);
        if (before == null) {
            return Future.failedFuture(Page.badCursor());
        }
        Tuple parameters = Tuple.of(before, limit + 1);
        String some = "select * from command where id < $1"
                + with(parameters, "reference", reference)
                + with(parameters, "operation", operation)
                + with(parameters, "actor", actor == null ? null : actor.value())
                + " order by id desc limit $2";
        return pool.preparedQuery(SELECT.formatted(some))
                .execute(parameters)
                .map(rows ->
                        Page.of(commands(rows), limit, command -> command.id().toString()));
    }

    private static String with(Tuple parameters, String column, @Nullable String value) {
        if (value == null) {
            return "";
        }
        parameters.addString(value);
        return " and " + column + " = $" + parameters.size();
    }

    /** A row is a transfer. Rows of one command are consecutive. */
    private static List<Command> commands(RowSet<Row> rows) {
        Map<UUID, Command> commands = new LinkedHashMap<>();
        for (Row row : rows) {
            Command command = command(row);
            commands.merge(command.id(), command, (first, more) -> {
                List<Command.Moved> moved = new ArrayList<>(first.moved());
                moved.addAll(more.moved());
                return new Command(first.id(), first.operation(), first.origin(), first.key(), first.at(), moved);
            });
        }
        return List.copyOf(commands.values());
    }

    private static Command command(Row row) {
        return new Command(
                row.getUUID("id"),
                row.getString("operation"),
                new Origin(
                        new UserId(row.getString("actor")),
                        Origin.By.of(row.getString("role")),
                        new Note(row.getString("reference"), row.getString("reason"))),
                row.getString("key"),
                Rows.instant(row, "at"),
                row.getLong("transfer") == null ? List.of() : List.of(moved(row)));
    }

    private static Command.Moved moved(Row row) {
        return new Command.Moved(
                row.getLong("transfer"),
                TransferKind.of(row.getString("kind")),
                side(row, "debit"),
                side(row, "credit"),
                new Asset(row.getString("asset")),
                row.getLong("amount"),
                row.getLong("reverses"),
                row.getUUID("reversed_by"));
    }

    /** Reads an account from the columns {@code debit_…} or {@code credit_…}. */
    static Command.Side side(Row row, String which) {
        String kind = row.getString(which + "_kind").toUpperCase(Locale.ROOT);
        return new Command.Side(AccountKind.valueOf(kind), row.getString(which + "_owner"));
    }
}
