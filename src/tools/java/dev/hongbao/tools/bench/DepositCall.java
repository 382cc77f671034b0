package dev.hongbao.tools.bench;

import dev.hongbao.common.values.Caller;
import dev.hongbao.domain.ledger.Origin;
import dev.hongbao.domain.ledger.WalletRecord;
import dev.hongbao.domain.ledger.Wallets;
import dev.hongbao.server.Services;
import io.vertx.core.Future;
import java.util.List;

/** Deposits of a cent for one member after the other. All of them come from the asset's one source account. */
record DepositCall(Wallets wallets, List<Caller> members) implements Storm.StormCall<WalletRecord> {
    private static final Origin BACKEND = Origin.service(BenchPackets.BACKEND);

    @Override
    public Future<WalletRecord> on(Services services, int n) {
        return wallets.deposit(
                BACKEND, members.get(n % members.size()).user(), BenchPackets.CNY, 1, BenchPackets.newKey());
    }

    @Override
    public boolean isRight(WalletRecord entry) {
        return entry.change().credit() && entry.change().amount() == 1;
    }
}
