// Threads of a virtual machine call BLAS through JNI while others have rubbish collected, null references followed and stacks
// overflown: the machine finds out of these by faults and stops its threads by signals, which must go on being its own.
import java.util.concurrent.atomic.AtomicInteger;

public class Solves {
    static native void multiply(int n, double[] a, double[] b, double[] c);

    static final AtomicInteger caught = new AtomicInteger();
    static volatile Object none = null;

    static int depth(int n) { return n < 0 ? 0 : 1 + depth(n + 1); }

    static void fault() {
        try {
            none.hashCode();
        } catch (NullPointerException expected) {
            caught.incrementAndGet();
        }
        try {
            depth(0);
        } catch (StackOverflowError expected) {
            caught.incrementAndGet();
        }
    }

    /** C of a product of a matrix that doubles. */
    static void compute(int n) {
        double[] a = new double[n * n], b = new double[n * n], c = new double[n * n];
        for (int i = 0; i < n; ++i) a[i * n + i] = 2;
        for (int i = 0; i < n * n; ++i) b[i] = i % 1000;
        multiply(n, a, b, c);
        for (int i = 0; i < n * n; ++i)
            if (c[i] != 2 * b[i]) throw new IllegalStateException("element " + i + " is " + c[i]);
    }

    static Thread[] start(int count, boolean daemons, int turns) {
        Thread[] threads = new Thread[count];
        for (int t = 0; t < count; ++t) {
            final int first = t;
            threads[t] = new Thread(() -> {
                for (int turn = 0; turn < turns; ++turn) compute(20 + 70 * ((first + turn) % 6));
            });
            threads[t].setDaemon(daemons);
            threads[t].setUncaughtExceptionHandler((thread, failure) -> {
                System.err.println("wrong: " + failure);
                Runtime.getRuntime().halt(1);
            });
            threads[t].start();
        }
        return threads;
    }

    public static void main(String[] words) throws Exception {
        System.load(words[0]);
        if (words.length > 1) { // the machine ends in the middle
            start(8, true, Integer.MAX_VALUE);
            Thread.sleep(400);
            System.exit(7);
        }
        Thread[] threads = start(8, false, 25);
        for (int i = 0; i < 40; ++i) {
            System.gc();
            fault();
        }
        for (Thread thread : threads) thread.join();
        System.out.println(caught.get() == 80 ? "right" : "faults: " + caught.get());
    }
}
