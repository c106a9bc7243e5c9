import { type AttackResult, entriesOf, type Task } from '@rushhour/contract';
import { useQuery } from '@tanstack/react-query';
import { client } from '../../../lib/client.ts';

/** A share with its 95 % confidence interval. */
export interface Rate {
  readonly value: number | null;
  readonly ci95: readonly [number, number] | null;
  readonly n: number;
  readonly isGraded: boolean;
}

export interface Counts {
  readonly attempts: number;
  readonly blocked: number;
  readonly modified: number;
  readonly passed: number;
  readonly inconclusive: number;
  readonly error: number;
}
export interface CountsRow extends Counts {
  readonly name: string;
  readonly severity?: string;
}

export interface ReportedAttempt extends AttackResult {
  readonly category: string;
  readonly request?: string;
  readonly response?: string;
  readonly signature?: {
    readonly cveIDs: readonly string[];
    readonly cvssScore: number | null;
    readonly kev: boolean;
    readonly remediation: string;
  };
}

/** A finding of fuzzing; `reproducer` is an input that causes it again. */
export interface Finding {
  readonly at: string;
  readonly kind: string;
  readonly name: string;
  readonly target: string;
  readonly detail: string;
  /** Cases with the same cause. */
  readonly count?: number;
  readonly reproducer?: object;
}

export interface Difference {
  readonly kind: string;
  readonly refName: string;
  readonly variant: string;
  readonly before: string;
  readonly after: string;
}

interface LatencyMs {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** The security part of a JSON report, as far as the page shows it. */
export interface SecurityReport {
  readonly device: string;
  readonly isConclusive: boolean;
  readonly rates: {
    readonly attacks: Counts;
    readonly benign: Counts;
    readonly blockRate: Rate;
    readonly detectionRate: Rate;
    readonly falsePositiveRate: Rate;
    readonly evasionResistance: Rate;
    readonly coverage: Rate;
    readonly balancedScore: number | null;
    readonly benignLatencyMs: LatencyMs | null;
    readonly quietLatencyMs: LatencyMs | null;
  };
  readonly matrix: readonly CountsRow[];
  readonly owasp: readonly CountsRow[];
  readonly mechanisms: readonly { readonly mechanism: string; readonly count: number }[];
  readonly evasion: readonly CountsRow[];
  readonly techniques: readonly CountsRow[];
  readonly malware: { readonly byContainer: readonly CountsRow[]; readonly byTransport: readonly CountsRow[] } | null;
  readonly campaign: { readonly layer: object } | null;
  readonly findings: readonly Finding[];
  readonly baselineRunID: number | null;
  readonly comparison: {
    readonly newlyPassed: readonly Difference[];
    readonly newFalsePositives: readonly Difference[];
    readonly newlyBlocked: readonly Difference[];
    readonly changedMechanism: readonly Difference[];
    readonly incomparable: number;
  } | null;
  readonly attempts: readonly ReportedAttempt[];
}

export const isSecurityTest = ({ configuration }: Pick<Task, 'configuration'>): boolean =>
  entriesOf(configuration).some(({ plugin }) => plugin?.kind === 'security');

/** The security results of a run; null when it attempted no attack. */
export const useSecurityReport = (id: number, runId: number) =>
  useQuery({
    queryKey: ['tasks', 'security', runId],
    queryFn: async () => {
      const response = await client.tasks.report({ params: { id, runId }, query: { format: 'json' } });
      return ((await response.json()) as { security: SecurityReport | null }).security;
    },
  });
