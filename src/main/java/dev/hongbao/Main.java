package dev.hongbao;

/** The jar's entry. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        System.out.println("hongbao");
    }
}
