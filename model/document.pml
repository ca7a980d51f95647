/*
 * The consensus of Numaflow's document, as written: every member reports a pool size with its heartbeat.
 * The store answers AGREE if all live members report one size and it equals their number, else DISAGREE
 * with the largest reported size. On DISAGREE a member uses the larger size and reports the smaller.
 *
 * This is not the protocol of this project. The model shows that the published rule can stay above the
 * ceiling for ever, and that it can leave a pool without any share for ever.
 */
#define MEMBERS 3
#define STARTED 2
#define CEILING 12
#define STALE 3        /* a heartbeat older than this many ticks is removed */
#ifndef EVENTS
#define EVENTS 2
#endif
#define CAP 14         /* the tick counters stop here, which stands for "for ever" */
#ifndef OVER_MAX
#define OVER_MAX 255   /* ticks in a row above the ceiling */
#endif
#ifndef ZERO_MAX
#define ZERO_MAX 255   /* ticks in a row with sum 0, after the last event, while a member lives */
#endif
#define ABSENT 63

c_decl { static int worstSum = 0; }

bit on[MEMBERS], paused[MEMBERS], grants[MEMBERS], synced[MEMBERS];
byte used[MEMBERS], reported[MEMBERS];
byte heartbeat[MEMBERS], size[MEMBERS];     /* store: age of the heartbeat, reported size */
byte events = EVENTS, over, zero;
byte j, live, least, most, sum;

#define MUST_ACT(k) (on[k] && !paused[k] && !synced[k])

inline prune() {
  j = 0;
  do :: j < MEMBERS -> if :: heartbeat[j] != ABSENT && heartbeat[j] > STALE -> heartbeat[j] = ABSENT; size[j] = 0 :: else fi; j++
     :: else -> break od
}
inline count() {
  live = 0; least = ABSENT; most = 0; j = 0;
  do :: j < MEMBERS ->
        if :: heartbeat[j] != ABSENT -> live++;
              least = (size[j] < least -> size[j] : least); most = (size[j] > most -> size[j] : most)
           :: else fi;
        j++
     :: else -> break od;
  j = 0
}
inline endCount() { live = 0; least = 0; most = 0 }
inline measure() {
  sum = 0; live = 0; j = 0;
  do :: j < MEMBERS ->
        sum = sum + (on[j] && grants[j] && !paused[j] -> CEILING / used[j] : 0);
        live = live + (on[j] && !paused[j] -> 1 : 0); j++
     :: else -> break od;
  j = 0;
  c_code { if (now.sum > worstSum) { worstSum = now.sum; printf("WORST sum %d\n", worstSum); } }
}
inline join(k) {
  on[k] = 1; prune(); heartbeat[k] = 0; count(); size[k] = live; used[k] = live; reported[k] = live; endCount()
}
inline sync(k) {
  synced[k] = 1; heartbeat[k] = 0; size[k] = reported[k]; prune(); count();
  if :: least == most && most == live -> used[k] = most; reported[k] = most; grants[k] = 1; printf("@ m%d: AGREE %d\n", k, most)
     :: else ->
        printf("@ m%d reports %d: DISAGREE, largest %d, live %d\n", k, reported[k], most, live);
        if :: used[k] < most -> reported[k] = used[k]; used[k] = most :: else -> reported[k] = most fi
  fi;
  endCount()
}
inline stop(k) { on[k] = 0; paused[k] = 0; grants[k] = 0; synced[k] = 0; used[k] = 0; reported[k] = 0 }
inline event() { events--; zero = 0 }

#define STEPS(k) \
  :: d_step { MUST_ACT(k) -> sync(k) } \
  :: d_step { events > 0 && !on[k] && heartbeat[k] == ABSENT -> event(); printf("@ m%d JOINS\n", k); join(k) } \
  CAN_STOP(k)
#ifdef CAN_KILL
#define CAN_STOP(k) :: d_step { events > 0 && on[k] -> event(); printf("@ m%d is KILLED\n", k); stop(k) }
#else
#define CAN_STOP(k) :: d_step { events > 0 && on[k] && !paused[k] -> event(); printf("@ m%d is PAUSED\n", k); paused[k] = 1 } \
  :: d_step { paused[k] -> zero = 0; printf("@ m%d resumes\n", k); paused[k] = 0 }
#endif

init {
  d_step {
    do :: j < MEMBERS -> heartbeat[j] = ABSENT; j++ :: else -> break od; j = 0;
    do :: j < STARTED -> on[j] = 1; grants[j] = 1; used[j] = STARTED; reported[j] = STARTED; heartbeat[j] = 0; size[j] = STARTED; j++
       :: else -> break od;
    j = 0
  }
  do
  STEPS(0) STEPS(1) STEPS(2)
  :: d_step { !MUST_ACT(0) && !MUST_ACT(1) && !MUST_ACT(2) ->
       measure();
       printf("@ ---- tick: sum %d of %d\n", sum, CEILING);
       if :: sum > CEILING -> over = (over < CAP -> over + 1 : CAP) :: else -> over = 0 fi;
       if :: sum == 0 && live > 0 -> zero = (zero < CAP -> zero + 1 : CAP) :: else -> zero = 0 fi;
       assert(over <= OVER_MAX); assert(zero <= ZERO_MAX);
       sum = 0; live = 0;
       do :: j < MEMBERS -> synced[j] = 0; heartbeat[j] = (heartbeat[j] <= STALE -> heartbeat[j] + 1 : heartbeat[j]); j++ :: else -> break od;
       j = 0 }
  od
}
