/** Words the code no longer uses, and what it says instead. */
export interface RetiredWord {
  /** `names` match a whole word of an identifier, `prose` words of comments, messages and titles; both in lower case. */
  names?: RegExp;
  prose?: RegExp;
  write: string;
  /** Files in which the word is the field's own, and why. */
  except?: readonly { files: RegExp; because: string }[];
}

const interfaceDocument = {
  files: /^packages\/contract\/src\//,
  because: 'descriptions of the API are part of the interface document',
};

/** A word that is retired everywhere. */
const retire = (word: string, write: string, except: RetiredWord['except'] = []): RetiredWord => ({
  names: new RegExp(`^(?:${word})$`),
  prose: new RegExp(`\\b(?:${word})\\b`),
  write,
  except: [interfaceDocument, ...except],
});

/** A word that is retired in identifiers and stays in sentences. */
const retireName = (word: string, write: string, except: RetiredWord['except'] = []): RetiredWord => ({
  names: new RegExp(`^(?:${word})$`),
  write,
  except,
});

const retirePhrase = (phrase: string, write: string): RetiredWord => ({
  prose: new RegExp(`\\b(?:${phrase})\\b`),
  write,
  except: [interfaceDocument],
});

export const retiredWords: readonly RetiredWord[] = [
  retire('couriers?', 'CommandSender'),
  retire('ledgers?', 'RunWriter, XdpTxCounters'),
  retire('rosters?', 'ActiveRunCache'),
  retire('attendance', 'AgentEventHandler'),
  retire('mailbox(?:es)?', 'KeyedQueue'),
  retire('errands?', 'PreWaitTasks'),
  retire('crowds?', 'IndexedSet'),
  retire('luggage', 'context, ImportContext'),
  retire('farewells?|goodbyes?', 'exitGrace, closeGrace'),
  retire('rehears\\w*', 'warmUp, dryRun'),
  retire('wish(?:es|ed)?', 'options, request'),
  retire('surroundings|scenes?', 'context'),
  retire('referees?', 'MismatchPolicy'),
  retire('steering', 'RunControl'),
  retire('keepers?', 'QueueScheduler, CaptureStore'),
  retire('outlets?', 'TxPath'),
  retire('squeezed', 'zstd, compressed'),
  retire('essence', 'identityOf'),
  retire('travelling|traveller', 'RecordExporter'),
  retire('whoever|somebody', 'the caller, the user, the process'),
  retirePhrase('nobody (?:knows|can|will|has|is|uses|waits|reads|asks)', 'no + noun'),
  retirePhrase('(?:is|are|was|were|be|been) told', 'is reported, is given'),
  retireName('told|said', 'reported, given'),
  retireName('tells?', 'report'),
  retireName('most', 'max'),
  retireName('least', 'min'),
  retireName('usual', 'default'),
  retireName('sound', 'valid'),
  retireName('ways?', 'path'),
  retireName('places?', 'slot, endpoint'),
  retireName('turns?', 'mutex, semaphore, quota, event loop, iteration, ordinal'),
  retireName('leaf|leaves', 'TrafficEntry'),
  retireName('figures?', 'TrafficEstimate'),
  retireName('lanes?', 'QueryChannel, HttpConnection'),
  retireName('moments?', 'DecisionContext, time'),
  retireName('strain', 'GeneratorLoadMonitor'),
  retireName('sight', 'ClientObservation'),
  retireName('voice', 'authoritativeSide'),
  retireName('pulse', 'HeartbeatFlusher'),
  retireName('company', 'UserPool'),
  retireName('calm|anchor|living|quiet', 'the words of the vocabulary'),
];
