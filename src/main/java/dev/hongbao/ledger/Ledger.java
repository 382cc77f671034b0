package dev.hongbao.ledger;

import dev.hongbao.store.postgres.SqlState;
import dev.hongbao.values.Asset;
import dev.hongbao.values.Named;
import dev.hongbao.values.Reason;
import dev.hongbao.values.RefusedException;
import dev.hongbao.values.RefusedException.Refusal;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.Collection;
import java.util.Locale;
import java.util.UUID;

/**
 * Accounts, commands and transfers inside a caller's transaction. The database's trigger moves balances in the order of account ids. A
 * transaction makes its transfers of several accounts in one statement, which avoids deadlocks.
 */
public final class Ledger {
    private static final String INSERT_COMMAND = """
        insert into command (id, operation, actor, role, key, reference, reason) values ($1, $2, $3, $4, $5, $6, $7)
        """;

    private Ledger() {}

    /** Finds or opens an account. Refused with UNKNOWN_ASSET. */
    public static Future<Long> account(SqlClient tx, AccountKind kind, String owner, Asset asset) {
        Tuple key = Tuple.of(kind.wireName(), owner, asset.code());
        // Both are sent at once. The insert's error counts: the select then only reports the aborted transaction.
        var opened = tx.preparedQuery(
                        "insert into account (kind, owner, asset) values ($1, $2, $3) on conflict do nothing")
                .execute(key);
        var found = tx.preparedQuery("select id from account where kind = $1 and owner = $2 and asset = $3")
                .execute(key);
        return opened.recover(fault -> Future.failedFuture(refusal(fault)))
                .compose(done -> found)
                .map(rows -> rows.iterator().next().getLong(0));
    }

    /**
     * Locks accounts, in order, before money leaves one of them. An answered freeze takes effect: it waited for the same lock.
     *
     * @param payer the user whose wallet pays
     * @return refused with FROZEN
     */
    public static Future<Void> lockToPay(SqlClient tx, UserId payer, Collection<Long> accounts) {
        // A separate statement, so that the next one sees everything committed until then.
        return tx.preparedQuery("select lock_accounts($1)")
                .execute(Tuple.tuple().addArrayOfLong(accounts.toArray(Long[]::new)))
                .compose(locked -> tx.preparedQuery(
                                "select (judge_restrictions(array['done'], array[$1], array[null::text]))[1]")
                        .execute(Tuple.of(payer.value())))
                .compose(rows -> "frozen".equals(rows.iterator().next().getString(0))
                        ? Future.failedFuture(Verdict.FROZEN.refusal())
                        : Future.succeededFuture());
    }

    /**
     * Sets whether a reference may name one command only, for all servers of the database. Earlier commands keep their references, and
     * these count as used.
     */
    public static Future<Void> haveUniqueReferences(SqlClient pool, boolean unique) {
        return pool.preparedQuery("update installation set unique_references = $1 where unique_references <> $1")
                .execute(Tuple.of(unique))
                .mapEmpty();
    }

    /**
     * Writes a command, in the transaction of its transfers and before them. Sends, deposits and withdrawals write theirs together with
     * their money.
     *
     * @param id the subject of its transfers
     * @return refused with REFERENCE_USED
     */
    public static Future<Void> command(SqlClient tx, UUID id, Idempotency.Scope scope) {
        Origin origin = scope.origin();
        return tx.preparedQuery(INSERT_COMMAND)
                .execute(Tuple.of(
                        id,
                        scope.operation(),
                        origin.actor().value(),
                        origin.by().wireName(),
                        scope.key().value(),
                        origin.note().reference(),
                        origin.note().reason()))
                .<Void>mapEmpty()
                .recover(fault -> Future.failedFuture(refusal(fault)));
    }

    /**
     * Translates a failed insert of commands, accounts or transfers: REFERENCE_USED; UNKNOWN_ASSET; INSUFFICIENT_FUNDS or BALANCE_LIMIT
     * where a balance would exceed its limit; else the fault itself.
     */
    public static Throwable refusal(Throwable fault) {
        String constraint = SqlState.violatedConstraint(fault);
        if ("account_not_negative".equals(constraint)) {
            return Verdict.POOR.refusal();
        }
        if ("command_reference_once".equals(constraint)) {
            return new RefusedException(Refusal.REFERENCE_USED, Text.of("reference.used", SqlState.detail(fault)));
        }
        if ("account_in_range".equals(constraint)) {
            return Verdict.BEYOND.refusal();
        }
        if ("asset_is_declared".equals(constraint)) {
            return new RefusedException(Refusal.UNKNOWN_ASSET, Text.of("asset.unknown"));
        }
        return fault;
    }

    /** The kind of an account. */
    public enum AccountKind implements Named {
        /** A user's account; never below 0. */
        WALLET,
        /** The account of a packet, of a campaign, or of a draw's awards; never below 0, and 0 after the close. */
        ESCROW,
        /** The account of a draw for its players' costs; never below 0, and 0 after the close. */
        HOLD,
        /** The account of the outside world; 0 or below: the negative of all money inside. */
        SOURCE
    }

    /** The reason for a transfer, with its accounts. */
    public enum TransferKind implements Named {
        /** source → wallet */
        DEPOSIT,
        /** wallet → source */
        WITHDRAWAL,
        /** wallet → escrow, for a sent packet; a campaign's escrow → a pool's, for an opened pool */
        SEND,
        /** escrow → wallet, for a settled claim */
        CLAIM,
        /** escrow → wallet, for a packet, draw or campaign closed with a remainder; a pool's escrow → its campaign's */
        REFUND,
        /** wallet → escrow: all awards of a new draw; the budget of a new campaign, or its raise */
        FUND,
        /** wallet → hold, before a play is decided */
        COST,
        /** hold → wallet, for a play that is not accepted */
        RETURN,
        /** escrow → wallet, for a settled play that won an amount */
        AWARD,
        /** hold → wallet of the draw's owner, at its close */
        PROCEEDS,
        /** the reverse of a deposit, withdrawal, claim or award; money from an escrow returns to the wallet that paid it */
        REVERSAL;

        /** @throws IllegalArgumentException for an unknown kind */
        public static TransferKind of(String wireName) {
            return valueOf(wireName.toUpperCase(Locale.ROOT));
        }
    }

    /** The database's result for a command that moves money, with the names of {@code move_wallets} and {@code send_packets}. */
    public enum Verdict {
        /** Committed now. */
        DONE,
        /** Committed before, under the same key. */
        REPLAYED,
        /** The key belongs to another command. */
        REUSED,
        /** The wallet holds less than the amount. */
        POOR,
        /** The asset's total would exceed the ledger's limit. */
        BEYOND,
        /** Pools: the campaign's budget holds less than the amount. */
        SPENT,
        /** Pools: the campaign does not exist. */
        UNKNOWN,
        /** Pools: the campaign has ended. */
        OVER,
        /** Pools: the campaign opens later. */
        EARLY,
        /** Pools: the campaign is paused. */
        PAUSED,
        /** Pools: the group or the user may not open one. */
        STRANGER,
        /** Pools: the user has already opened one for this product. */
        OPENED,
        /** Pools: the user has opened the day's most pools. */
        DAILY,
        /** Packets: the amount is above its asset's cap. */
        LARGE,
        /** Packets: a share might be above its asset's cap. */
        RICH,
        /** Packets: the sender's total of the asset would exceed the day's cap. */
        LIMIT,
        /** The user is frozen. */
        FROZEN,
        /** Packets: the sender or the group is blocked. */
        BLOCKED;

        /**
         * @param name the database's name
         * @throws IllegalArgumentException for an unknown verdict
         */
        public static Verdict of(String name) {
            return valueOf(name.toUpperCase(Locale.ROOT));
        }

        public boolean isRefusal() {
            return this != DONE && this != REPLAYED;
        }

        /**
         * The refusal for the caller.
         *
         * @throws IllegalStateException for a verdict that is no refusal
         */
        public RefusedException refusal() {
            return switch (this) {
                case REUSED -> new RefusedException(Refusal.IDEMPOTENCY_KEY_REUSED, Text.of("command.key-reused"));
                case POOR -> new RefusedException(Refusal.INSUFFICIENT_FUNDS, Text.of("wallet.too-little"));
                case BEYOND -> new RefusedException(Refusal.BALANCE_LIMIT, Text.of("asset.total-limit"));
                case SPENT -> new RefusedException(Refusal.BUDGET_SPENT, Text.of("campaign.budget-low"));
                case UNKNOWN -> new RefusedException(Refusal.NOT_FOUND, Text.of("campaign.not-found"));
                case OVER -> new RefusedException(Refusal.CAMPAIGN_OVER, Text.of("campaign.ended"));
                case EARLY -> new RefusedException(Refusal.NOT_OPEN_YET, Text.of("campaign.not-open"));
                case PAUSED -> new RefusedException(Refusal.CAMPAIGN_PAUSED, Text.of("campaign.paused-now"));
                case STRANGER -> new RefusedException(Refusal.NOT_ELIGIBLE, Text.of("campaign.no-pool-in-group"));
                case OPENED -> new RefusedException(Refusal.ALREADY_OPENED, Text.of("campaign.product-opened"));
                case DAILY -> new RefusedException(Refusal.DAILY_LIMIT_REACHED, Text.of("campaign.day-opened"));
                case LARGE -> new RefusedException(Refusal.ABOVE_CAP, Reason.PACKET, Text.of("asset.packet-cap"));
                case RICH -> new RefusedException(Refusal.ABOVE_CAP, Reason.SHARE, Text.of("asset.share-cap"));
                case LIMIT -> new RefusedException(Refusal.DAY_CAP_REACHED, Text.of("asset.day-cap"));
                case FROZEN -> new RefusedException(Refusal.FROZEN, Text.of("wallet.frozen"));
                case BLOCKED -> new RefusedException(Refusal.BLOCKED, Text.of("restriction.blocked"));
                case DONE, REPLAYED -> throw new IllegalStateException(this + " is no refusal");
            };
        }
    }
}
