package dev.hongbao.ledger;

import dev.hongbao.testing.TestEngine;
import dev.hongbao.values.IdempotencyKey;
import dev.hongbao.values.UserId;
import io.vertx.core.Future;

/** Reverses transfers of an engine, for tests of other rooms, too. */
public final class TestReversals {
    private TestReversals() {}

    public static Future<WalletRecord> reverse(
            TestEngine engine, Origin origin, UserId user, long transfer, IdempotencyKey key) {
        return new Reversals(engine.engine().pool(), engine.engine().wallets).reverse(origin, user, transfer, key);
    }
}
