package dev.hongbao.domain.packet;

import dev.hongbao.common.values.UserId;
import dev.hongbao.domain.packet.PoolTerms.Claiming;
import dev.hongbao.domain.packet.PoolTerms.Limits;
import dev.hongbao.domain.packet.PoolTerms.TokenRule;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.ZoneId;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads what a campaign's definition says of claims. Pure. */
public final class ClaimingText {
    private ClaimingText() {}

    /**
     * Reads {@code claiming}, which fits the contract.
     *
     * @param zone of the definition
     * @param claiming null for no rule
     * @throws IllegalArgumentException where a name is not allowed
     */
    public static Claiming read(ZoneId zone, @Nullable JsonObject claiming) {
        if (claiming == null) {
            return new Claiming(zone, Limits.NONE, Set.of(), null);
        }
        JsonObject token = claiming.getJsonObject("token");
        return new Claiming(
                zone,
                new Limits(
                        claiming.getInteger("total", 0),
                        claiming.getInteger("aDay", 0),
                        claiming.getInteger("aProduct", 0)),
                texts(claiming.getJsonArray("users")).stream().map(UserId::new).collect(Collectors.toSet()),
                token == null ? null : new TokenRule(token.getString("name"), texts(token.getJsonArray("values"))));
    }

    private static Set<String> texts(@Nullable JsonArray list) {
        return list == null ? Set.of() : list.stream().map(String.class::cast).collect(Collectors.toSet());
    }
}
