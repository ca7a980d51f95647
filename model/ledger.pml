/*
 * The ledger of promises: how the members of a pool divide one ceiling through a store.
 *
 * The store keeps, for every member, the most that this member may be using (its promise). A sync
 * tells a member more only out of what is promised to no one. A share that is asked back stays
 * promised until the member has reported its release, or until its lease must have ended.
 *
 * One process and one nondeterministic loop. Time goes in ticks of one sync interval: every healthy
 * member syncs once per tick, in any order, and then the tick may pass. README.md explains the
 * scenarios, the measured properties and how to read a counterexample.
 *
 * Names: a "member" is a process, an "entry" is its line in the ledger.
 */

/* ---- sizes. Every value can be set with -DNAME=value ------------------------------------------ */
#ifndef MEMBERS
#define MEMBERS 3      /* processes that may exist, 2 to 4 */
#endif
#ifndef STARTED
#define STARTED 2      /* processes that run at the start, each with its equal share */
#endif
#ifndef LEASE
#define LEASE 3        /* ticks from the send of a sync during which its answer may be used */
#endif
#ifndef STALE
#define STALE LEASE    /* a promise ends when its age exceeds this; LEASE is the smallest value that allows for one GAP */
#endif
#ifndef LEARN
#define LEARN (LEASE + 1)  /* ticks without growth after the store may have lost memory; one more than LEASE for one GAP */
#endif
#ifndef NOTHING
#define NOTHING 2      /* an entry with a promise of 0 is removed after more than this many ticks of silence */
#endif
#ifndef REPLY_DELAY
#define REPLY_DELAY 0  /* a member handles a reply, or sends its next request, at most this many ticks after the send */
#endif
#ifndef EVENTS
#define EVENTS 3       /* membership changes and faults in one run */
#endif
#ifndef LOSSES
#define LOSSES EVENTS  /* of these, at most this many are faults of the store */
#endif
#ifndef STEPS
#define STEPS 1        /* forward steps of the store's clock in one run */
#endif
#ifndef STEP
#define STEP 4         /* parts that may lie free before the store stops asking for more (the protocol's IDLE) */
#endif
#ifndef OVERDUE
#define OVERDUE 2      /* a promise that was not renewed for more ticks than this is asked back in one step */
#endif
#ifndef SAFE
#define SAFE 0         /* safe share in parts; used by SAFE_ON_EMPTY, SAFE_ON_JOIN and SAFE_ON_LOSS */
#endif
#ifndef DELAYED_LIFE
#define DELAYED_LIFE 255 /* a delayed request is lost after this many ticks; 255: it may arrive at any time */
#endif

/* ---- bounds that are asserted. Without SUM_MAX the bound is the ceiling plus the stated overshoot -- */
#ifndef SETTLE_MAX
#define SETTLE_MAX 255 /* quiet ticks until every live member has its equal share */
#endif
#ifndef ZERO_MAX
#define ZERO_MAX 255   /* ticks with sum 0 while a healthy member exists */
#endif
#ifndef OVER_MAX
#define OVER_MAX 255   /* ticks in a row with the sum above the ceiling, after all members reach the store (safe shares) */
#endif
#ifndef CAP
#define CAP 12         /* the tick counters stop here; larger than every asserted bound */
#endif

#define CEILING 12     /* divisible by 1, 2, 3 and 4, so that equal shares are whole */
#define NO_OWNER 255     /* owner of an entry that does not exist */

/* answers of the store */
#define NONE 0
#define TOLD 1
#define REFUSED 2
#define LATE 3

/* Two members with one id: member 1 uses the entry of member 0. */
#ifdef TWINS
#define ID(k) ((k) == 1 -> 0 : (k))
#else
#define ID(k) (k)
#endif

/* The nonce is drawn anew each time a process starts. */
#define NONCE(k) ((k) + MEMBERS * life[k])

#if defined(CAN_FAILOVER) || defined(CAN_SPLIT)
#define BANKS 2        /* bank 1 is the replica's older copy, or the second master of a split brain */
#else
#define BANKS 1
#endif

#ifdef CAN_SPLIT
#define BANK(k) (moved[k])
#else
#define BANK(k) 0
#endif

/* Largest values over the whole search; they are not part of the state. */
c_decl { static int worstSum = 0, worstSettle = 0, worstZero = 0, worstOver = 0, leastSettled = 99; }

/* ---- members ---------------------------------------------------------------------------------- */
bit on[MEMBERS], paused[MEMBERS], cutOff[MEMBERS];
bit synced[MEMBERS];                        /* it has sent its request of this tick */
bit refused[MEMBERS];                       /* another process has its id */
bit lapses[MEMBERS];                        /* the share that it reported with its last request has a lease that may end before the reply */
byte life[MEMBERS];                         /* starts of this process after the first */
byte share[MEMBERS], lease[MEMBERS];        /* told last; ticks until the lease ends */
byte more[MEMBERS], moreLease[MEMBERS];     /* asked back, used until the next send, on the old lease */
#ifdef SAFE_ON_LOSS
bit answered[MEMBERS];                      /* it was told a share at least once, so it may fall to the safe share */
#endif
#if SAFE > 0
bit overdraws[MEMBERS];                     /* not protocol: its safe share is not yet covered by the ledger */
#endif
/* reply under way */
byte reply[MEMBERS], replyShare[MEMBERS], replyAge[MEMBERS]; bit replyRenewed[MEMBERS];
/* request or superseded reply that the network still delivers some day */
#ifdef CAN_DELAY
byte delayed[MEMBERS];                        /* 0 nothing, 1 request, 2 reply to a superseded request */
byte strayHeld[MEMBERS], strayNonce[MEMBERS], strayAge[MEMBERS];
bit strayNewest[MEMBERS];                   /* the member has sent no newer request since */
bit strayUnleased[MEMBERS], strayRenewed[MEMBERS];
#endif

/* ---- store ------------------------------------------------------------------------------------ */
byte owner[BANKS * MEMBERS];                /* nonce of the process, or NO_OWNER */
bit left[BANKS * MEMBERS];                  /* tombstone */
byte promise[BANKS * MEMBERS], promiseAge[BANKS * MEMBERS];
byte told[BANKS * MEMBERS], toldAge[BANKS * MEMBERS];
byte seenAge[BANKS * MEMBERS];
byte count[BANKS], frozen[BANKS], recordRun[BANKS]; bit isEmpty[BANKS];   /* the pool's record */
byte serverRun[BANKS], lastRun;             /* run id of the server process that answers */
#ifdef CAN_DELAY
bit passed[BANKS * MEMBERS];                /* its sequence number is higher than that of the delayed */
#endif
#ifdef CAN_FAILOVER
bit hasCopy;
#endif
#ifdef CAN_SPLIT
bit isSplit, moved[MEMBERS];
#endif

/* ---- budget and measurements ------------------------------------------------------------------ */
byte events = EVENTS, losses = LOSSES, quiet, zero;
#ifdef CAN_STEP
byte steps = STEPS;
#endif
#if SAFE > 0
byte overFor;
#define RESTART overFor = 0
#else
#define RESTART skip
#endif
/* scratch; 0 between two steps, so that it adds no states */
byte j, e, n, sum, fair, free, over, held, heldAge, tell, answer, activeSum, alive, healthy, allowance;
bit isNew, wasEmpty, isUnleased, renewed, settled;

#define HEALTHY(k) (on[k] && !paused[k] && !cutOff[k])
#ifdef SAFE_ON_LOSS
#define UNLEASED(k) (on[k] && !refused[k] && answered[k] && moreLease[k] == 0 && lease[k] == 0)
#else
#define UNLEASED(k) false
#endif
/* What member k uses, or would use at once if it woke up now. */
#define USE(k) (!on[k] -> 0 : (moreLease[k] > 0 -> more[k] : (lease[k] > 0 -> share[k] : (UNLEASED(k) -> SAFE : 0))))

/* ---- the store's step ------------------------------------------------------------------------- */
inline freeze(b) { frozen[b] = LEARN }

inline setPromise(entry, amount, amountAge, toldAmount, toldAmountAge) {
  promise[entry] = amount; promiseAge[entry] = (amount > 0 -> amountAge : 0);
  told[entry] = toldAmount; toldAge[entry] = (amount > 0 -> toldAmountAge : 0)
}
inline eraseEntry(entry) {
  owner[entry] = NO_OWNER; left[entry] = 0; setPromise(entry, 0, 0, 0, 0); seenAge[entry] = 0;
#ifdef CAN_DELAY
  passed[entry] = 0;
#endif
}

/* Notices an empty store and lost entries, ends old promises, removes silent entries. First part of every sync and leave. */
inline openStore(b) {
  wasEmpty = isEmpty[b];
  if :: isEmpty[b] -> isEmpty[b] = 0; count[b] = 0; recordRun[b] = serverRun[b];
#ifndef NO_LEARNING
        freeze(b)
#endif
     :: else fi;
  n = 0; j = 0;
  do :: j < MEMBERS -> n = n + (owner[b * MEMBERS + j] != NO_OWNER -> 1 : 0); j++ :: else -> break od;
  if :: n != count[b] -> count[b] = n;
#ifndef NO_COUNT_CHECK
        freeze(b)
#endif
     :: else fi;
  j = 0;
  do
  :: j < MEMBERS ->
     e = b * MEMBERS + j;
     if :: owner[e] != NO_OWNER && promise[e] > 0 && promiseAge[e] > STALE ->
           if :: toldAge[e] < promiseAge[e] && toldAge[e] <= STALE -> setPromise(e, told[e], toldAge[e], told[e], toldAge[e])
              :: else -> setPromise(e, 0, 0, 0, 0) fi
        :: else fi;
     if :: owner[e] != NO_OWNER && promise[e] == 0 && seenAge[e] > (left[e] -> STALE : NOTHING) -> eraseEntry(e); count[b]--
        :: else fi;
     j++
  :: else -> break
  od;
  j = 0; n = 0; e = 0
}

/* Notices another run of the server. The store looks for it before a share grows. It also does so once a
   second, which is not modelled: the later it is noticed, the more may go wrong. */
inline checkRun(b) {
  if :: recordRun[b] != serverRun[b] -> recordRun[b] = serverRun[b];
#ifndef NO_RUN_ID_CHECK
        freeze(b)
#endif
     :: else fi
}

/* One sync at the store. In: held, isUnleased. Out: answer, tell, renewed. */
inline execute(b, id, nonce, isStray) {
  openStore(b);
  e = b * MEMBERS + id;
  if :: owner[e] != NO_OWNER && left[e] && owner[e] != nonce -> eraseEntry(e); count[b]-- :: else fi;
#ifdef NO_NONCE
  if :: owner[e] != NO_OWNER -> owner[e] = nonce :: else fi;
#endif
  if
  :: owner[e] != NO_OWNER && owner[e] != nonce -> answer = REFUSED
#ifdef CAN_DELAY
#ifdef NO_SEQUENCE
  :: owner[e] == nonce && left[e] -> answer = LATE
#else
  :: owner[e] == nonce && (left[e] || (isStray && passed[e])) -> answer = LATE
#endif
#endif
  :: else ->
     isNew = (owner[e] == NO_OWNER);
     if :: isNew -> owner[e] = nonce; count[b]++ :: else fi;
     if :: held > promise[e] ->
           heldAge = 0;
#ifndef NO_EVIDENCE
#ifdef UNLEASED_IS_EVIDENCE
           if :: frozen[b] == 0 -> freeze(b) :: else fi
#else
           if :: frozen[b] == 0 && !isUnleased -> freeze(b) :: else fi
#endif
#endif
        :: held <= promise[e] && held <= told[e] -> heldAge = toldAge[e]
        :: else -> heldAge = promiseAge[e] fi;
     setPromise(e, held, heldAge, held, heldAge);
     seenAge[e] = 0;
#ifdef CAN_DELAY
     passed[e] = !isStray;
#endif
     j = 0;
     do :: j < MEMBERS ->
           if :: owner[b * MEMBERS + j] != NO_OWNER && !left[b * MEMBERS + j] -> n++; sum = sum + promise[b * MEMBERS + j] :: else fi; j++
        :: else -> break od;
     j = 0;
     fair = CEILING / n;
     if :: held < fair -> checkRun(b) :: else fi;
     free = (sum < CEILING -> CEILING - sum : 0); over = (sum > CEILING -> sum - CEILING : 0);
     tell = held; renewed = 1;
     if
     :: held > fair && (frozen[b] <= 2 || over > 0) ->               /* ask back, in steps */
        tell = (free < STEP -> STEP - free : 0) + over;              /* room for one step */
        if :: tell > held - fair || heldAge > OVERDUE -> tell = held - fair :: else fi;
        tell = held - tell;
        renewed = (tell <= fair)
     :: held < fair && !isNew && frozen[b] == 0 ->                   /* grow into what is free */
        tell = held + (fair - held < free -> fair - held : free)
     :: else fi;
#if defined(SAFE_ON_EMPTY) || defined(SAFE_ON_JOIN)
     if
#ifdef SAFE_ON_EMPTY
     :: (wasEmpty || (isNew && n == 1)) && tell < SAFE -> tell = SAFE; renewed = 1
#endif
#ifdef SAFE_ON_JOIN
     :: isNew && tell < SAFE -> tell = SAFE; renewed = 1
#endif
     :: else fi;
#endif
#ifdef NO_ACK
     setPromise(e, tell, (renewed -> 0 : heldAge), tell, (renewed -> 0 : heldAge));
#else
     if :: tell < held -> setPromise(e, held, heldAge, tell, (renewed -> 0 : heldAge))
        :: else -> setPromise(e, tell, (renewed -> 0 : heldAge), tell, (renewed -> 0 : heldAge)) fi;
#endif
     answer = TOLD;
#if SAFE > 0
     sum = sum + (tell > held -> tell - held : 0);
#endif
     printf("@   store: held %d, told %d, renewed %d, members %d, promised to all before %d, frozen %d\n", held, tell, renewed, n, CEILING + over - free, frozen[b])
  fi;
  n = 0; e = 0; heldAge = 0; isNew = 0; wasEmpty = 0; fair = 0; free = 0; over = 0
}

/* ---- the member's steps ----------------------------------------------------------------------- */
inline dropReply(k) { reply[k] = NONE; replyShare[k] = 0; replyRenewed[k] = 0; replyAge[k] = 0 }

inline prepare(k) {                /* before every send: give up what was asked back, then report what is left */
  more[k] = 0; moreLease[k] = 0; synced[k] = 1; dropReply(k);
  held = USE(k); isUnleased = UNLEASED(k) && held > 0;
  lapses[k] = held > 0 && !isUnleased
}
#if SAFE > 0
/* A safe share counts as not covered until the ledger, whole and not frozen, has room for every promise. */
inline account(k, b) {
  if :: answer == TOLD && frozen[b] == 0 && sum <= CEILING -> overdraws[k] = 0
     :: answer == TOLD && (isUnleased || (tell > held && sum > CEILING) || (tell > held && frozen[b] > 0)) -> overdraws[k] = 1
     :: else fi
}
#else
inline account(k, b) { skip }
#endif
inline endSync() { held = 0; isUnleased = 0; sum = 0; tell = 0; renewed = 0; answer = NONE }

inline sync(k) {
  printf("@ m%d syncs\n", k);
#ifdef CAN_DELAY
#ifdef ACCEPT_SUPERSEDED
  if :: reply[k] == TOLD && delayed[k] == 0 ->
        delayed[k] = 2; strayHeld[k] = replyShare[k]; strayRenewed[k] = replyRenewed[k]; strayAge[k] = replyAge[k]; strayNonce[k] = NONCE(k)
     :: else fi;
#endif
  strayNewest[k] = 0;
#endif
  prepare(k);
  execute(BANK(k), ID(k), NONCE(k), false);
  account(k, BANK(k));
  reply[k] = answer; replyShare[k] = tell; replyRenewed[k] = renewed;
  if :: answer == REFUSED -> printf("@   store: refused\n") :: else fi;
  endSync()
}
#ifdef NO_LAPSE_CHECK
#define KIND_IS_USED(kind, k) (kind == TOLD)
#else
#define KIND_IS_USED(kind, k) (kind == TOLD && !(lapses[k] && lease[k] == 0))
#endif
/* A share that was reported with the request is confirmed only while its lease still runs. If the lease
   ended before the reply came, the store may have given the share to another member before it executed
   the request. The reply is dropped then, and the next request reports 0. */
inline handle(k, kind, amount, isRenewed, age) {
  if
#ifndef NO_LAPSE_CHECK
  :: kind == TOLD && lapses[k] && lease[k] == 0 -> printf("@ m%d: its lease has ended since the request\n", k)
#endif
  :: kind == REFUSED ->
     share[k] = 0; lease[k] = 0; more[k] = 0; moreLease[k] = 0; refused[k] = 1
  :: KIND_IS_USED(kind, k) ->
     refused[k] = 0;
     if :: lease[k] > 0 && amount < share[k] -> more[k] = share[k]; moreLease[k] = lease[k] :: else fi;
     share[k] = amount;
#ifdef LEASE_FROM_RECEIPT
     if :: isRenewed -> lease[k] = LEASE :: else fi;
#else
     if :: isRenewed -> lease[k] = LEASE - age :: else fi;
#endif
     if :: lease[k] == 0 -> share[k] = 0 :: else fi;
#ifdef SAFE_ON_LOSS
     answered[k] = 1;
#endif
  :: else fi;
  printf("@ m%d handles the reply: share %d for %d ticks, until its next send %d for %d\n", k, share[k], lease[k], more[k], moreLease[k])
}
inline receive(k) { handle(k, reply[k], replyShare[k], replyRenewed[k], replyAge[k]); dropReply(k); lapses[k] = 0 }

inline stop(k) {
  on[k] = 0; share[k] = 0; lease[k] = 0; more[k] = 0; moreLease[k] = 0;
  paused[k] = 0; cutOff[k] = 0; synced[k] = 0; refused[k] = 0; lapses[k] = 0;
#ifdef SAFE_ON_LOSS
  answered[k] = 0;
#endif
#if SAFE > 0
  overdraws[k] = 0;
#endif
#ifdef CAN_DELAY
  strayNewest[k] = 0;
#endif
  dropReply(k)
}
inline leave(k) {
  openStore(BANK(k));
  e = BANK(k) * MEMBERS + ID(k);
  if :: owner[e] == NONCE(k) ->
#ifdef NO_TOMBSTONE
        eraseEntry(e); count[BANK(k)]--
#else
        setPromise(e, 0, 0, 0, 0); left[e] = 1; seenAge[e] = 0
#endif
     :: else fi;
  e = 0; wasEmpty = 0;
  stop(k)
}

/* ---- measurements ----------------------------------------------------------------------------- */
/* A twin is refused for as long as the other process runs; a process that restarted under its old id is not. */
#ifdef TWINS
#define COUNTS(k) (on[k] && !refused[k])
#else
#define COUNTS(k) (on[k])
#endif
inline measure() {
  sum = 0; activeSum = 0; alive = 0; healthy = 0; settled = 1; allowance = CEILING; j = 0;
  do :: j < MEMBERS ->
        sum = sum + USE(j);
        alive = alive + (COUNTS(j) -> 1 : 0);
        if :: on[j] && !paused[j] -> activeSum = activeSum + USE(j); healthy = healthy + (!cutOff[j] && COUNTS(j) -> 1 : 0) :: else fi;
#if SAFE > 0
        allowance = allowance + (on[j] && (overdraws[j] || UNLEASED(j)) -> (USE(j) < SAFE -> USE(j) : SAFE) : 0);
#endif
        j++
     :: else -> break od;
  j = 0;
  do :: j < MEMBERS -> if :: COUNTS(j) && USE(j) != CEILING / alive -> settled = 0 :: else fi; j++ :: else -> break od;
  j = 0;
  c_code { if (now.sum > worstSum) { worstSum = now.sum; printf("WORST sum %d\n", worstSum); } };
#ifdef SUM_MAX
  assert(sum <= SUM_MAX)
#else
  assert(sum <= allowance)
#endif
}
inline endMeasure() { sum = 0; activeSum = 0; alive = 0; healthy = 0; settled = 0; allowance = 0 }

inline disturb() { quiet = 0; zero = 0; RESTART }
inline event() { events--; disturb() }
inline storeEvent() { event(); losses-- }

/* ---- what may happen, for each member ---------------------------------------------------------- */
/* A reply is accepted at any age, unless the member has sent a newer request. Such a request is possible
   from the next tick on; it costs an event, because a member whose replies are all superseded starves. */
#define ACTS(k) \
  :: d_step { HEALTHY(k) && !synced[k] && reply[k] == NONE -> sync(k); measure(); endMeasure() } \
  :: d_step { HEALTHY(k) && !synced[k] && reply[k] != NONE && replyAge[k] > 0 && events > 0 -> event(); sync(k); measure(); endMeasure() } \
  :: d_step { HEALTHY(k) && reply[k] != NONE -> receive(k); measure(); endMeasure() }
#define MUST_ACT(k) (HEALTHY(k) && ((!synced[k] && reply[k] == NONE) || (reply[k] != NONE && replyAge[k] >= REPLY_DELAY)))

#define JOINS(k) :: d_step { events > 0 && !on[k] -> event(); \
  life[k] = life[k] + (WAS_USED(k) -> 1 : 0); MARK_USED(k); on[k] = 1; printf("@ m%d STARTS, nonce %d\n", k, NONCE(k)) }
#define LEAVES(k) :: d_step { events > 0 && HEALTHY(k) -> event(); printf("@ m%d LEAVES\n", k); leave(k) }
#define DIES(k) :: d_step { events > 0 && on[k] -> event(); printf("@ m%d is KILLED\n", k); stop(k) }
#define PAUSES(k) :: d_step { events > 0 && on[k] && !paused[k] -> event(); printf("@ m%d is PAUSED\n", k); paused[k] = 1 } \
  :: d_step { paused[k] -> disturb(); printf("@ m%d resumes\n", k); paused[k] = 0 }
#define IS_CUT(k) :: d_step { events > 0 && on[k] && !cutOff[k] -> event(); printf("@ m%d is CUT OFF from the store\n", k); cutOff[k] = 1; dropReply(k) } \
  :: d_step { cutOff[k] -> disturb(); printf("@ m%d reaches the store again\n", k); cutOff[k] = 0 }
#define IS_LOST(k) :: d_step { events > 0 && losses > 0 && owner[k] != NO_OWNER -> storeEvent(); printf("@ the store LOSES entry %d\n", k); eraseEntry(k) }
#ifdef CAN_SPLIT
#define MOVES(k) :: d_step { isSplit && !moved[k] -> disturb(); printf("@ m%d talks to the second master from now on\n", k); moved[k] = 1 }
#endif

/* A nonce matters only if an entry, a copy of an entry or a delayed may still carry the previous one. */
#if defined(CAN_LEAVE) || defined(CAN_KILL)
#define WAS_USED(k) wasUsed[k]
bit wasUsed[MEMBERS];
#define MARK_USED(k) wasUsed[k] = 1
#else
#define WAS_USED(k) false
#define MARK_USED(k) skip
#endif

#ifdef CAN_DELAY
/* The request leaves member k and stays in the network; a later request may overtake it. */
#define DELAYS(k) \
  :: d_step { events > 0 && HEALTHY(k) && !synced[k] && (reply[k] == NONE || replyAge[k] > 0) && delayed[k] == 0 -> \
       event(); printf("@ m%d sends a request that is DELAYED\n", k); prepare(k); \
       delayed[k] = 1; strayHeld[k] = held; strayUnleased[k] = isUnleased; strayNonce[k] = NONCE(k); strayNewest[k] = 1; strayAge[k] = 0; \
       FORGET_PASSED(k); endSync(); measure(); endMeasure() } \
  :: d_step { delayed[k] == 1 -> printf("@ the delayed request of m%d arrives\n", k); \
       held = strayHeld[k]; isUnleased = strayUnleased[k]; \
       execute(BANK(k), ID(k), strayNonce[k], true); \
       STRAY_DISTURBS; \
       if :: strayNewest[k] && HEALTHY(k) && answer != LATE -> \
             account(k, BANK(k)); reply[k] = answer; replyShare[k] = tell; replyRenewed[k] = renewed; \
             replyAge[k] = (strayAge[k] < LEASE -> strayAge[k] : LEASE); dropStray(k) \
          :: else -> KEEP_OR_DROP_STRAY(k) fi; \
       endSync(); measure(); endMeasure() }
#ifdef STRAYS_ARE_QUIET
#define STRAY_DISTURBS skip
#else
#define STRAY_DISTURBS if :: answer == TOLD -> disturb() :: else fi
#endif
inline dropStray(k) { delayed[k] = 0; strayHeld[k] = 0; strayUnleased[k] = 0; strayRenewed[k] = 0; strayNonce[k] = 0; strayAge[k] = 0; strayNewest[k] = 0 }
#if BANKS == 2
#define FORGET_PASSED(k) passed[ID(k)] = 0; passed[MEMBERS + ID(k)] = 0
#else
#define FORGET_PASSED(k) passed[ID(k)] = 0
#endif
#ifdef ACCEPT_SUPERSEDED
#define KEEP_OR_DROP_STRAY(k) if :: answer == TOLD && on[k] && strayNonce[k] == NONCE(k) -> \
    delayed[k] = 2; strayHeld[k] = tell; strayRenewed[k] = renewed; strayUnleased[k] = 0 :: else -> dropStray(k) fi
#define OLD_REPLY(k) :: d_step { delayed[k] == 2 && HEALTHY(k) && strayNonce[k] == NONCE(k) -> printf("@ m%d accepts the reply to a superseded request\n", k); \
    handle(k, TOLD, strayHeld[k], strayRenewed[k], strayAge[k]); dropStray(k); measure(); endMeasure() }
#else
#define KEEP_OR_DROP_STRAY(k) dropStray(k)
#endif
#endif

#if MEMBERS == 2
#define EACH(what) what(0) what(1)
#define ALL_ACTED (!MUST_ACT(0) && !MUST_ACT(1))
#elif MEMBERS == 3
#define EACH(what) what(0) what(1) what(2)
#define ALL_ACTED (!MUST_ACT(0) && !MUST_ACT(1) && !MUST_ACT(2))
#else
#define EACH(what) what(0) what(1) what(2) what(3)
#define ALL_ACTED (!MUST_ACT(0) && !MUST_ACT(1) && !MUST_ACT(2) && !MUST_ACT(3))
#endif

/* ---- time ------------------------------------------------------------------------------------- */
inline grow(age, by, most) { age = (age + by > most -> most : age + by) }
inline shrink(rest, by) { rest = (rest > by -> rest - by : 0) }

/* Pool time of one store goes on: entries age, the learning time runs down. */
inline ageStore(b, by) {
  j = 0;
  do :: j < MEMBERS ->
        e = b * MEMBERS + j;
        if :: owner[e] != NO_OWNER ->
              if :: promise[e] > 0 -> grow(promiseAge[e], by, STALE + 1); grow(toldAge[e], by, STALE + 1) :: else fi;
              if :: left[e] -> grow(seenAge[e], by, STALE + 1) :: else -> grow(seenAge[e], by, NOTHING + 1) fi
           :: else fi;
        j++
     :: else -> break od;
  shrink(frozen[b], by);
  j = 0; e = 0
}
inline ageMembers() {
  j = 0;
  do :: j < MEMBERS ->
        if :: paused[j] || cutOff[j] -> quiet = 0; RESTART :: else fi;
        synced[j] = 0;
        if :: reply[j] != NONE -> grow(replyAge[j], 1, LEASE) :: else fi;
#ifndef NO_LEASE
        if :: lease[j] == 1 -> lease[j] = 0; share[j] = 0 :: lease[j] > 1 -> lease[j]-- :: else fi;
        if :: moreLease[j] == 1 -> moreLease[j] = 0; more[j] = 0 :: moreLease[j] > 1 -> moreLease[j]-- :: else fi;
#endif
#ifdef CAN_DELAY
        if :: delayed[j] > 0 -> grow(strayAge[j], 1, (DELAYED_LIFE < 255 -> DELAYED_LIFE : LEASE));
              if :: strayAge[j] == DELAYED_LIFE -> dropStray(j) :: else fi
           :: else fi;
#endif
        j++
     :: else -> break od;
  j = 0
}
inline tick() {
  measure();
  printf("@ ---- tick: sum %d of %d\n", sum, CEILING);
  if :: !settled -> c_code { if (now.quiet > worstSettle) { worstSettle = now.quiet; printf("WORST settle %d\n", worstSettle); } };
        assert(quiet <= SETTLE_MAX)
     :: else fi;
#if SAFE > 0
  if :: sum > CEILING ->
        grow(overFor, 1, CAP);
        c_code { if (now.overFor > worstOver) { worstOver = now.overFor; printf("WORST over %d\n", worstOver); } };
        assert(overFor <= OVER_MAX)
     :: else -> overFor = 0 fi;
#endif
  if :: quiet == CAP && alive > 0 -> c_code { if (now.sum < leastSettled) { leastSettled = now.sum; printf("LEAST settled %d\n", leastSettled); } } :: else fi;
  if :: activeSum == 0 && healthy > 0 ->
        grow(zero, 1, CAP);
        c_code { if (now.zero > worstZero) { worstZero = now.zero; printf("WORST zero %d\n", worstZero); } };
        assert(zero <= ZERO_MAX)
     :: else -> zero = 0 fi;
  grow(quiet, 1, CAP);
  endMeasure();
  ageMembers();
  ageStore(0, 1);
#ifdef CAN_SPLIT
  if :: isSplit -> ageStore(1, 1) :: else fi;
#endif
}

#if BANKS == 2
inline copyBank(from, to) {
  j = 0;
  do :: j < MEMBERS ->
        owner[(to) * MEMBERS + j] = owner[(from) * MEMBERS + j]; left[(to) * MEMBERS + j] = left[(from) * MEMBERS + j];
        promise[(to) * MEMBERS + j] = promise[(from) * MEMBERS + j]; promiseAge[(to) * MEMBERS + j] = promiseAge[(from) * MEMBERS + j];
        told[(to) * MEMBERS + j] = told[(from) * MEMBERS + j]; toldAge[(to) * MEMBERS + j] = toldAge[(from) * MEMBERS + j];
        seenAge[(to) * MEMBERS + j] = seenAge[(from) * MEMBERS + j];
#ifdef CAN_DELAY
        passed[(to) * MEMBERS + j] = passed[(from) * MEMBERS + j];
#endif
        j++
     :: else -> break od;
  j = 0;
  count[to] = count[from]; frozen[to] = frozen[from]; isEmpty[to] = isEmpty[from]; recordRun[to] = recordRun[from]
}
#endif
inline eraseBank(b) {
  j = 0; do :: j < MEMBERS -> eraseEntry((b) * MEMBERS + j); j++ :: else -> break od; j = 0;
  count[b] = 0; frozen[b] = 0; isEmpty[b] = 1; recordRun[b] = 0
}

/* ---- start and loop --------------------------------------------------------------------------- */
init {
  d_step {
    eraseBank(0);
#if BANKS == 2
    eraseBank(1);
#endif
    j = 0;
    do :: j < STARTED -> on[j] = 1; MARK_USED(j); j++ :: else -> break od;
#ifndef COLD_START
    isEmpty[0] = 0; j = 0;
    do :: j < STARTED ->
#ifdef TWINS
          if :: j != 1 -> share[j] = CEILING :: else fi;
#else
          share[j] = CEILING / STARTED;
#endif
          if :: share[j] > 0 ->
                lease[j] = LEASE; owner[j] = NONCE(j); count[0]++; setPromise(j, share[j], 0, share[j], 0);
#ifdef SAFE_ON_LOSS
                answered[j] = 1;
#endif
             :: else fi;
          j++
       :: else -> break od;
#endif
    j = 0
  }
  do
  EACH(ACTS)
  :: atomic { ALL_ACTED -> tick() }
#ifdef NP
     ; progress: skip
#endif
#ifdef CAN_JOIN
  EACH(JOINS)
#endif
#ifdef CAN_LEAVE
  EACH(LEAVES)
#endif
#ifdef CAN_KILL
  EACH(DIES)
#endif
#ifdef CAN_PAUSE
  EACH(PAUSES)
#endif
#ifdef CAN_CUT
  EACH(IS_CUT)
#endif
#ifdef CAN_LOSE
  EACH(IS_LOST)
#endif
#ifdef CAN_DELAY
  EACH(DELAYS)
#ifdef ACCEPT_SUPERSEDED
  EACH(OLD_REPLY)
#endif
#endif
#ifdef CAN_FLUSH
  :: d_step { events > 0 && losses > 0 -> storeEvent(); printf("@ the store is FLUSHED\n"); eraseBank(0) }
#endif
#ifdef CAN_STEP
  /* A forward step of the store's clock. Pool time lets one GAP of it through, which is one tick. */
#ifdef NO_POOL_TIME
#define JUMP (STALE + 1)
#else
#define JUMP 1
#endif
  :: d_step { events > 0 && steps > 0 -> event(); steps--; printf("@ the clock of the store STEPS forward\n"); ageStore(0, JUMP) }
#endif
#ifdef CAN_FAILOVER
  :: d_step { events > 0 && losses > 0 && !hasCopy -> hasCopy = 1; printf("@ (this is the state that the replica has)\n"); copyBank(0, 1) }
  :: d_step { events > 0 && losses > 0 && hasCopy -> storeEvent(); hasCopy = 0;
       copyBank(1, 0); eraseBank(1); isEmpty[1] = 0;
#ifdef RUN_ID_RETURNS
       serverRun[0] = 1 - serverRun[0];     /* two server processes, never restarted, take turns as master */
#else
       lastRun++; serverRun[0] = lastRun;
#endif
       printf("@ FAILOVER to that state, run id %d\n", serverRun[0]) }
#endif
#ifdef CAN_SPLIT
  :: d_step { events > 0 && losses > 0 && !isSplit -> storeEvent(); isSplit = 1; printf("@ SPLIT BRAIN: a second master starts from a copy\n");
       copyBank(0, 1); lastRun++; serverRun[1] = lastRun }
  EACH(MOVES)
#endif
  od
}
