package dev.hongbao.server;

import dev.hongbao.common.config.HongbaoConfig;
import dev.hongbao.domain.books.Books;
import dev.hongbao.domain.ledger.Assets;
import dev.hongbao.domain.ledger.CommandBook;
import dev.hongbao.domain.ledger.Deposits;
import dev.hongbao.domain.ledger.Reversals;
import dev.hongbao.domain.ledger.Wallets;
import dev.hongbao.domain.restriction.Restrictions;
import dev.hongbao.domain.restriction.Revocations;
import dev.hongbao.domain.trail.AuditLog;
import dev.hongbao.domain.trail.AuditReader;
import dev.hongbao.engine.shard.Shards;
import dev.hongbao.web.http.HostServices;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

/** Whose money is where, who may move it, and who did, whatever it is moved for. Thread-safe. */
public final class Accounting {
    private final Assets assets;
    private final Wallets wallets;
    private final Deposits deposits;
    private final Books books;
    private final Restrictions restrictions;
    private final Revocations revocations;
    private final HostServices.Trail trail;

    Accounting(Foundation base) {
        Pools pools = base.pools();
        Shards shards = base.shards();
        this.assets = new Assets(pools.requests());
        this.wallets = new Wallets(pools.requests(), assets);
        this.deposits = new Deposits(pools.requests(), assets);
        this.books = new Books(pools.requests(), pools.books(), assets);
        this.restrictions = new Restrictions(pools.owner(), pools.requests());
        this.revocations = new Revocations(pools.owner(), pools.requests());
        this.trail = new HostServices.Trail(
                new CommandBook(pools.requests()),
                new Reversals(pools.requests(), wallets),
                new AuditLog(pools.requests(), base.metrics()),
                new AuditReader(pools.requests()));
        shards.whenPostgresWentBack(restrictions::reload);
        shards.whenPostgresWentBack(revocations::reload);
    }

    /** Knows the assets, the restrictions and which tokens are revoked, and writes the audit log, from then on. Once. */
    Future<Void> start(Vertx vertx, HongbaoConfig config) {
        return assets.start(vertx, config.domain().assets().declared())
                .compose(started -> Future.all(restrictions.start(vertx), revocations.start(vertx)))
                .<Void>mapEmpty()
                .onSuccess(started -> trail.log().start(vertx));
    }

    /** Writes what the audit log has yet to be told. */
    Future<Void> stop(Vertx vertx) {
        return trail.log().stop(vertx);
    }

    public Assets assets() {
        return assets;
    }

    public Wallets wallets() {
        return wallets;
    }

    /** Deposits for many at once. */
    public Deposits deposits() {
        return deposits;
    }

    /** Transfers, statements, totals and open items. */
    public Books books() {
        return books;
    }

    /** Who is frozen, and who and what is blocked. */
    public Restrictions restrictions() {
        return restrictions;
    }

    /** Whose tokens are void. */
    public Revocations revocations() {
        return revocations;
    }

    /** What is kept for those who ask who did what. */
    public HostServices.Trail trail() {
        return trail;
    }
}
