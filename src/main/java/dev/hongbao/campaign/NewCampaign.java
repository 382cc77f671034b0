package dev.hongbao.campaign;

import dev.hongbao.ledger.Ledger;
import dev.hongbao.ledger.Ledger.AccountKind;
import dev.hongbao.store.postgres.SqlState;
import dev.hongbao.values.Asset;
import dev.hongbao.values.CampaignId;
import dev.hongbao.values.InvalidInputException;
import dev.hongbao.values.Text;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A campaign or rain to be made: its row, its escrow, and the transfer of its budget.
 *
 * @param sponsor whose wallet pays and gets the remainder
 * @param opensAt the start of the time for opening pools; null for now
 * @param zone of the pools' days
 * @param definition in its stored form, with {@code name}, {@code asset} and {@code budget}
 */
record NewCampaign(
        CampaignId id,
        Kind kind,
        UserId sponsor,
        @Nullable Instant opensAt,
        Instant endsAt,
        ZoneId zone,
        JsonObject definition) {
    /** Fails for a zone that Postgres does not know: Postgres computes the days of pools. */
    private static final String INSERT = """
        insert into campaign
            (id, shard, kind, sponsor, name, asset, zone, definition, escrow, refund_to, budget, opens_at, ends_at)
        select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, coalesce($12, now()), $13
        where local_day(now(), $7) is not null
        """;

    /** The opener of the pools: users, or the server. */
    public enum Kind {
        CAMPAIGN,
        RAIN
    }

    /**
     * Writes the campaign, in a transaction that holds its shard's row and has written the command.
     *
     * @return refused with INSUFFICIENT_FUNDS or FROZEN
     */
    public Future<Void> insert(SqlConnection tx, int shard) {
        Asset asset = new Asset(definition.getString("asset"));
        return Ledger.account(tx, AccountKind.ESCROW, id.toString(), asset)
                .compose(escrow -> Ledger.account(tx, AccountKind.WALLET, sponsor.value(), asset)
                        .compose(wallet -> tx.preparedQuery(INSERT)
                                .execute(row(shard, escrow, wallet))
                                .recover(NewCampaign::unknownZone)
                                .compose(made -> CampaignCatalog.fund(
                                                tx, id, sponsor, wallet, escrow, definition.getLong("budget"))
                                        .<Void>mapEmpty()
                                        .recover(fault -> Future.failedFuture(Ledger.refusal(fault))))));
    }

    private Tuple row(int shard, long escrow, long wallet) {
        return Tuple.tuple()
                .addUUID(id.value())
                .addShort((short) shard)
                .addString(kind.name().toLowerCase(Locale.ROOT))
                .addString(sponsor.value())
                .addString(definition.getString("name"))
                .addString(definition.getString("asset"))
                .addString(zone.getId())
                .addJsonObject(definition)
                .addLong(escrow)
                .addLong(wallet)
                .addLong(definition.getLong("budget"))
                .addOffsetDateTime(offset(opensAt))
                .addOffsetDateTime(offset(endsAt));
    }

    private static <T> Future<T> unknownZone(Throwable fault) {
        return Future.failedFuture(
                SqlState.isUnknownZone(fault) ? InvalidInputException.of("#/zone", Text.of("zone.unknown")) : fault);
    }

    private static @Nullable OffsetDateTime offset(@Nullable Instant moment) {
        return moment == null ? null : moment.atOffset(ZoneOffset.UTC);
    }
}
