/** Texts of requests that are shown with their responses. */
export const exchanges = {
  title: 'Requests and responses',
  variables: 'Variables',
  extracted: 'Extracted from the response',
  request: 'Request',
  response: 'Response',
  empty: 'empty',
  states: { ok: 'OK', failed: 'Failed', noAnswer: 'No response' },
};

/** Texts of trying a journey. */
export const tryJourney = {
  title: 'Try a journey',
  journey: 'Journey',
  lastStep: 'Up to step',
  allSteps: 'All steps',
  help: 'Runs the journey once as one user, between the agents of this entry. Think times are shortened and nothing is stored.',
  run: 'Try',
  result: (name: string) => `Result of journey ${name}`,
  none: 'No requests were sent.',
};
