package dev.hongbao.domain.campaign;

import java.time.LocalDate;

/**
 * What became of the pools that were opened on one day for one product.
 *
 * @param day from 1970-01-01, in the campaign's zone
 * @param claims settled ones, whenever they were made
 */
public record CampaignReport(int day, String product, long pools, long claims, Money money) {
    /**
     * Minor units; what is neither claimed nor returned is in pools that are open.
     *
     * @param amount put into the pools
     * @param claimed by users
     * @param returned to the campaign
     */
    public record Money(long amount, long claimed, long returned) {}

    /** The day. */
    public LocalDate date() {
        return LocalDate.ofEpochDay(day);
    }
}
