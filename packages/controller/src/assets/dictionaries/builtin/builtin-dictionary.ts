/** A dictionary that every installation has: a list with values, or a table with rows. */
export interface BuiltinDictionary {
  readonly name: string;
  readonly description: string;
  readonly tags: string;
  readonly selection: 'sequential' | 'random' | 'shuffle';
  readonly columns: readonly string[];
  readonly values?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
}
