/** A word the code no longer uses, and what to write instead. */
export interface RetiredWord {
  /** Matches one word of an identifier, in lower case: `most` of `mostBytes`. */
  words?: RegExp;
  /** Matches a whole identifier. */
  identifiers?: RegExp;
  /** Matches comments, messages, titles and documents, in lower case. */
  prose?: RegExp;
  write: string;
  /** Files in which the word is the field's own. */
  except?: readonly { files: RegExp; because: string }[];
}

const interfaceDocument = {
  files: /^packages\/contract\/src\//,
  because: 'descriptions of the API belong to the interface document',
};
const certificates = {
  files: /certificate|tls|x509|flaws|demo-data|screenshots|canaries|tasks\/transfer|approval-dependencies/,
  because: 'a leaf certificate',
};
const mail = { files: /protocols\/lines\/imap/, because: 'a mailbox of IMAP' };
const benignTexts = { files: /security\/content\/waf\/benign/, because: 'texts of harmless requests' };
const webLibraries = {
  files: /^packages\/web\/src\//,
  because: '`Outlet` of TanStack Router, `Anchor` of Mantine',
};

/** Retired in identifiers and in sentences. */
const retire = (word: string, write: string, ...except: RetiredWord['except'] & {}): RetiredWord => ({
  words: new RegExp(`^(?:${word})$`),
  prose: new RegExp(`\\b(?:${word})\\b`),
  write,
  except: [interfaceDocument, ...except],
});

/** Retired in identifiers; sentences may use the word. */
const retireWord = (word: string, write: string, ...except: RetiredWord['except'] & {}): RetiredWord => ({
  words: new RegExp(`^(?:${word})$`),
  write,
  except,
});

/** Retired as the name of one thing. */
const retireName = (name: string, write: string): RetiredWord => ({ identifiers: new RegExp(`^${name}$`), write });

const retirePhrase = (phrase: string, write: string): RetiredWord => ({
  prose: new RegExp(`\\b(?:${phrase})`),
  write,
  except: [interfaceDocument],
});

/** Identifiers that keep a retired word: where (everywhere by default), and why. */
export const allowedIdentifiers: Readonly<Record<string, { files?: RegExp; because: string }>> = {
  atLeast: { because: 'plain English' },
  atMost: { because: 'plain English' },
  caAsLeaf: { because: 'wire name' },
  figure: { files: /web\/src/, because: 'an HTML element' },
  figures: { because: 'wire name' },
  isOneWay: { because: 'one-way traffic' },
  jumpIfAtLeast: { because: 'plain English' },
  leastGapMs: { because: 'wire name' },
  leaves: { files: /mpls/, because: 'wire name' },
  mostFrames: { because: 'wire name' },
  oneWay: { because: 'one-way traffic' },
  place: {
    files:
      /protocol\/src|contract\/src|har-replay|sockets\/timeouts|security\/fuzz|unsupported-members|plan-run.properties|plugins.test|prepare-job|tls-engines/,
    because: 'wire name',
  },
  places: { files: /protocol\/src|contract\/src|har-replay/, because: 'wire name' },
  way: { files: /protocol\/src|controller\/src|machine\/facts/, because: 'wire name' },
  wish: { files: /runs\/(commands|control)|tables\/runs/, because: 'member of a stored column' },
};

export const retiredWords: readonly RetiredWord[] = [
  retire('couriers?', 'CommandSender'),
  retire('ledgers?', 'RunWriter, XdpTxCounters'),
  retire('rosters?', 'ActiveRunCache'),
  retire('attendance', 'AgentEventHandler'),
  retire('mailbox(?:es)?', 'KeyedQueue', mail),
  retire('errands?', 'PreWaitTasks'),
  retire('crowds?', 'IndexedSet, group'),
  retire('luggage', 'context, ImportContext'),
  retire('farewells?|goodbyes?', 'exitGrace, closeGrace, FIN'),
  retire('rehears\\w*', 'warmUp, dryRun', benignTexts),
  retire('wish(?:es|ed)?', 'options, request'),
  retire('surroundings|scenes?', 'context', benignTexts),
  retire('referees?', 'MismatchPolicy'),
  retire('steering', 'RunControl'),
  retire('keepers?', 'QueueScheduler, CaptureStore'),
  retire('outlets?', 'TxPath', webLibraries),
  retire('squeezed', 'zstd, compressed'),
  retire('essence', 'identityOf'),
  retire('travelling', 'RecordExporter'),
  retire('whoever|somebody', 'the caller, the user, the process'),
  retirePhrase('nobody (?:knows|can|will|has|is|uses|waits|reads|asks)\\b', 'no + noun'),
  retirePhrase('(?:is|are|was|were|be|been) told\\b(?! apart| from)', 'is reported, is given'),
  retireWord('told|said', 'reported, given'),
  retireWord('tells?', 'report'),
  retireWord('most', 'max'),
  retireWord('least', 'min'),
  retireWord('usual', 'default'),
  retireWord('sound', 'valid'),
  retireWord('ways?', 'path'),
  retireWord('places?', 'slot, endpoint'),
  retireWord('turns?', 'mutex, semaphore, quota, event loop, iteration, ordinal'),
  retireWord('leaf|leaves', 'TrafficEntry', certificates),
  retireWord('figures?', 'TrafficEstimate, value'),
  retireWord('lanes?', 'QueryChannel, HttpConnection'),
  retireWord('strain', 'GeneratorLoadMonitor'),
  retireWord('sight', 'ClientObservation'),
  retireWord('voice', 'authoritativeSide'),
  retireName('Moment', 'DecisionContext'),
  retireName('Pulse', 'HeartbeatFlusher'),
  retireName('Company', 'UserPool'),
  retireName('AddressBook', 'AddressAllocator'),
  retireName('Openings', 'ConnectBatcher'),
  retireName('atOnce', 'concurrentShare'),
  retireName('claimsOf', 'addressesToAdd'),
  retireName('withSmartLists', 'resolveSignatureFilters'),
  retireName('quietFirst', 'benignBaselineFirst'),
  retireName('lookAlikes', 'findMatches'),
  retireName('livingOwners', 'liveRouteOwners'),
  retireName('anchorProgram', 'keepXdpProgramEnabled'),
  retireName('calmHelperThreads', 'setV8WorkersIdle'),
  retireName('startTerm', 'startLeaderElection'),
  retireName('returnOf', 'reconcileReturningAgent'),
  retireName('(?:Running)?Order', 'Job'),
];
