package dev.hongbao.tools.bench.article;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The errors of a strategy that had one share for each user. Each user asked until it got an answer.
 *
 * @param grantedTwice grants beyond a user's first, and beyond a share's last holder
 * @param overTotal minor units given beyond the total
 * @param lost shares that nobody has and nobody can get
 * @param toldNothing users who got no share
 */
public record Violations(long grantedTwice, long overTotal, long lost, long toldNothing) {
    static Violations in(Strategy.Supply supply, List<Strategy.Grant> granted, long left, long toldNothing) {
        Set<Integer> users = new HashSet<>();
        Map<String, Long> holders = new HashMap<>();
        long twice = 0;
        long money = 0;
        for (Strategy.Grant grant : granted) {
            money = Math.addExact(money, grant.amount());
            boolean firstOfUser = users.add(grant.user());
            long had = holders.merge(grant.share(), 1L, Math::addExact);
            if (!firstOfUser || had > supply.holders().getOrDefault(grant.share(), 0L)) {
                twice++;
            }
        }
        long missing = 0;
        for (Map.Entry<String, Long> offered : supply.holders().entrySet()) {
            missing += Math.max(0, offered.getValue() - holders.getOrDefault(offered.getKey(), 0L));
        }
        return new Violations(
                twice, Math.max(0, money - supply.total()), Math.max(0, missing - Math.max(0, left)), toldNothing);
    }

    public boolean areNone() {
        return grantedTwice == 0 && overTotal == 0 && lost == 0 && toldNothing == 0;
    }
}
