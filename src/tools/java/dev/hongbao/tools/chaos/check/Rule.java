package dev.hongbao.tools.chaos.check;

/** Every promise that a run checks. The number is its invariant in the guide. */
public enum Rule {
    SETTLED("I5 a claim that was answered as settled is in the database"),
    SAME_CLAIM("I6 every later answer to a claim is the first settled one"),
    ONE_WINNER("I2 a slot has one winner"),
    CLAIMED("I5 the database has no claim without a request"),
    LIMITED("a user has no more shares of a campaign than its limit"),

    DONE("I5 a command that was answered as done is in the books"),
    ONCE("I6 a key does its command once"),
    SAME_COMMAND("I6 the same key gets the same answer"),
    REQUESTED("I3 the books have no movement of money without a request"),

    ADDS_UP("I4 a wallet holds its owner's income less its expenses"),
    BALANCE("I4 an answered balance is the balance in the books"),

    CLOSED_SET("I7 every answer is in the contract"),
    ANSWERED("a server without a fault answers every request within its time"),
    REFUSED("a forbidden call is refused"),
    DEFINITE("I11 after the last fault every call has a definite answer"),

    SAME_EVENT("I16 an event keeps its id and its content"),
    EVERY_EVENT("I16 every settled fact is in the outbox"),
    DELIVERED("I16 the webhook receives every event"),
    EVENT_ORDER("I16 the events of a packet come in order"),

    FEED_ONCE("a feed repeats no event, over every reconnect"),
    FEED_SAME("a place in a feed is the same event for every listener"),
    FEED_WHOLE("a feed leaves out no event, over every reconnect"),

    SETTLES("I15 every shard settles after the faults are over"),
    CLAIMABLE("I11 an open packet can be claimed to its last share"),
    REFUNDED("I11 an expired packet is refunded"),
    PROVED("the proof of every closed packet verifies"),
    RECONCILED("the books have no finding of reconcile");

    final String sentence;

    Rule(String sentence) {
        this.sentence = sentence;
    }
}
