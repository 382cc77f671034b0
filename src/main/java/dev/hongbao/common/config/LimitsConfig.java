package dev.hongbao.common.config;

/**
 * What one user may do; 0 is no limit.
 *
 * @param rates how often
 * @param inFlight how much at once
 * @param wrongPasscodes how many guesses
 */
public record LimitsConfig(Rates rates, InFlight inFlight, WrongPasscodes wrongPasscodes) {
    /**
     * What one user may do in a second.
     *
     * @param claims claims
     * @param requests every other request
     * @param shares shares of the packets that are sent
     */
    public record Rates(int claims, int requests, int shares) {
        public Rates {
            Options.LIMITS_CLAIMS_PER_SECOND.require(claims);
            Options.LIMITS_REQUESTS_PER_SECOND.require(requests);
            Options.LIMITS_SHARES_PER_SECOND.require(shares);
        }
    }

    /**
     * What may be under way at once.
     *
     * @param calls of one user, claims not counted
     * @param serviceCalls the same for a caller with the service role
     * @param polls of one user that wait
     */
    public record InFlight(int calls, int serviceCalls, int polls) {
        public InFlight {
            Options.LIMITS_CALLS_IN_FLIGHT.require(calls);
            Options.LIMITS_SERVICE_CALLS_IN_FLIGHT.require(serviceCalls);
            Options.LIMITS_POLLS_IN_FLIGHT.require(polls);
        }
    }

    /**
     * How many wrong passcodes are taken.
     *
     * @param perMinute of one user, over all packets
     * @param perPacket of one packet in an hour, over all users
     */
    public record WrongPasscodes(int perMinute, int perPacket) {
        public WrongPasscodes {
            Options.LIMITS_WRONG_PASSCODES_PER_MINUTE.require(perMinute);
            Options.LIMITS_WRONG_PASSCODES_PER_PACKET.require(perPacket);
        }
    }

    static LimitsConfig from(OptionValues values) {
        return new LimitsConfig(
                new Rates(
                        values.get(Options.LIMITS_CLAIMS_PER_SECOND),
                        values.get(Options.LIMITS_REQUESTS_PER_SECOND),
                        values.get(Options.LIMITS_SHARES_PER_SECOND)),
                new InFlight(
                        values.get(Options.LIMITS_CALLS_IN_FLIGHT),
                        values.get(Options.LIMITS_SERVICE_CALLS_IN_FLIGHT),
                        values.get(Options.LIMITS_POLLS_IN_FLIGHT)),
                new WrongPasscodes(
                        values.get(Options.LIMITS_WRONG_PASSCODES_PER_MINUTE),
                        values.get(Options.LIMITS_WRONG_PASSCODES_PER_PACKET)));
    }
}
