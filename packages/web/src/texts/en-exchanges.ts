/** Texts of requests that are shown with their answers. */
export const exchanges = {
  title: 'Requests and answers',
  variables: 'Variables',
  extracted: 'Taken from the answer',
  request: 'Request',
  response: 'Answer',
  empty: 'empty',
  states: { ok: 'OK', failed: 'Failed', noAnswer: 'No answer' },
};

/** Texts of trying a journey. */
export const tryJourney = {
  title: 'Try a journey',
  journey: 'Journey',
  lastStep: 'Up to step',
  allSteps: 'All steps',
  help: 'One user goes through it once, between the agents of the entry. Pauses are short; nothing is stored.',
  run: 'Try',
  result: (name: string) => `Try of journey ${name}`,
  none: 'No request was sent.',
};
