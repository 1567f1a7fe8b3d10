/*
 * One start with a key, which its client sends up to three times: to processes that die or are slow,
 * with a store that keeps one entry for the start, and a provider that remembers idempotency keys.
 * The saga charges, and then ends well, or fails and undoes the charge.
 *
 * As built (docs/reference/wire.md, "A repeated call"), with no option:
 * - The entry is found by the name of the start. The secret of the saga, from which its idempotency
 *   keys are derived, is random, and stands in the entry.
 * - A request leases the entry, or waits, or takes over the lease of a process that has died. Only the
 *   newest lease can write.
 * - The saga commits that it undoes before it undoes.
 * - The response is forgotten some time after the end, but the entry stays: who repeats the start is
 *   told that it has started.
 *
 * Options: QUEUE: without its client, a queue takes over the lease of a dead process.
 * NO_STORE: no entry, each request runs, and the secret is derived from the key. NO_UNDO: the saga
 * does not fail. The faults, which the check must find: DERIVED with FORGETS: the secret is derived
 * from the key, and the entry is forgotten after the end. NO_COMMIT: the saga undoes at once.
 * NO_FENCE: each lease can write.
 *
 * What must hold: at most one charge stands. Whoever is told a success has been charged, and whoever
 * is told a failure has not, at the end of everything.
 */
#define FREE 0
#define LEASED 1
#define DONE 2
#define KNOWN 3

#define NOTHING 0
#define OK 1
#define FAILED 2

/* The entry of the start. */
byte entry = FREE;
byte lease = 0;
byte secret = 0;
byte result = NOTHING;
bool isUndoing = false;
/* The process with the newest lease has died. */
bool isDead = false;

/* The provider: a key that it knows charges no more. */
bool isKnown[5];
bool isCharged[5];
byte standing = 0;

byte secretsMade = 0;
byte deaths = 0;
bool toldOk = false;
bool toldFailed = false;

inline drawSecret(s) {
#ifdef DERIVED
  s = 1;
  secret = 1
#else
  secretsMade++;
  s = secretsMade;
  secret = s
#endif
}

inline charge(s) {
  d_step {
    if
    :: !isKnown[s] -> isKnown[s] = true; isCharged[s] = true; standing++
    :: else -> skip
    fi
  }
}

inline undo(s) {
  d_step {
    /* A provider that never saw the charge refuses it later. */
    isKnown[s] = true;
    if
    :: isCharged[s] -> isCharged[s] = false; standing--
    :: else -> skip
    fi
  }
}

/* The process dies, or goes on although another one may take over: it was only slow. */
inline mayDie() {
  if
  :: d_step { deaths < 2 && entry == LEASED && lease == mine -> deaths++; isDead = true };
     if
     :: goto end
     :: skip
     fi
  :: skip
  fi
}

/* A request of the client, or a message of the queue, which starts nothing and is told nothing. */
proctype Request(bool isQueue) {
  byte mine = 0;
  byte s = 0;
  byte got = NOTHING;
  bool runs = false;
  bool isKept = false;
  d_step {
#ifdef NO_STORE
    runs = true;
    s = 1
#else
    if
    :: entry == FREE && !isQueue ->
       entry = LEASED; lease++; mine = lease; runs = true;
       drawSecret(s)
    :: entry == LEASED && isDead ->
       isDead = false; lease++; mine = lease; runs = true;
       s = secret
    :: entry == DONE -> got = result
    :: else -> skip
    fi
#endif
  }
  if
  :: runs -> skip
  :: else -> goto told
  fi;
#ifndef NO_STORE
  if
  :: isUndoing -> goto undoing
  :: else -> skip
  fi;
#endif
#ifndef NO_STORE
  mayDie();
#endif
  charge(s);
#ifndef NO_STORE
  mayDie();
#endif
  if
  :: got = OK
#ifndef NO_UNDO
  :: got = FAILED;
undoing:
     got = FAILED;
#if !defined(NO_STORE) && !defined(NO_COMMIT)
     d_step {
       isKept = (entry == LEASED && lease == mine);
       if
       :: isKept -> isUndoing = true
       :: else -> skip
       fi
     };
     if
     :: isKept -> skip
     :: else -> got = NOTHING; goto end
     fi;
#endif
     undo(s)
#endif
  fi;
#ifndef NO_STORE
  d_step {
#ifdef NO_FENCE
    if
    :: entry == LEASED -> entry = DONE; result = got; isDead = false
    :: else -> skip
    fi
#else
    if
    :: entry == LEASED && lease == mine -> entry = DONE; result = got; isDead = false
    :: else -> got = NOTHING
    fi
#endif
  };
#endif
told:
  if
  :: isQueue || got == NOTHING -> skip
  :: else ->
     toldOk = toldOk || got == OK;
     toldFailed = toldFailed || got == FAILED
  fi;
end:
  skip
}

/* Time passes: the response is forgotten, and with a fault the whole entry. */
proctype Expiry() {
  if
  :: d_step {
       entry == DONE ->
#ifdef FORGETS
       entry = FREE; isUndoing = false;
#else
       entry = KNOWN;
#endif
       result = NOTHING
     }
  :: skip
  fi
}

init {
  atomic {
    run Request(false);
    run Request(false);
    run Request(false);
#ifdef QUEUE
    run Request(true);
#endif
#ifndef NO_STORE
    run Expiry()
#endif
  };
  _nr_pr == 1;
  assert(standing <= 1);
  assert(!toldOk || standing == 1);
  assert(!toldFailed || standing == 0)
}
