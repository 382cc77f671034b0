package dev.hongbao.campaign;

import java.time.LocalDate;

/**
 * The totals of the pools opened on one day for one product. Amounts are minor units; the rest, neither claimed nor returned, is in open
 * pools.
 *
 * @param day from 1970-01-01, in the campaign's zone
 * @param claims settled claims on these pools, of any day
 * @param amount put into the pools
 * @param claimed by users
 * @param returned to the campaign
 */
public record CampaignReport(
        int day, String product, long pools, long claims, long amount, long claimed, long returned) {
    public LocalDate date() {
        return LocalDate.ofEpochDay(day);
    }
}
