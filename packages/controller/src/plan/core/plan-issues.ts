import type { ValidationIssue } from '@rushhour/contract';

type Severity = ValidationIssue['severity'];

/** Where in the task something is wrong, and on which agent. */
export interface IssueLocation {
  readonly path: string;
  readonly agentId?: number | undefined;
}

const most = 1000;

/** Collects everything a plan has to say, each thing once. */
export class PlanIssues {
  readonly #issues = new Map<string, ValidationIssue>();
  readonly #notes = new Set<string>();

  get issues(): ValidationIssue[] {
    return [...this.#issues.values()];
  }

  get notes(): string[] {
    return [...this.#notes];
  }

  get hasErrors(): boolean {
    return this.issues.some(({ severity }) => severity === 'error');
  }

  error(place: string | IssueLocation, code: string, message: string): undefined {
    this.#add('error', place, { code, message });
  }

  warning(place: string | IssueLocation, code: string, message: string): undefined {
    this.#add('warning', place, { code, message });
  }

  info(place: string | IssueLocation, code: string, message: string): undefined {
    this.#add('info', place, { code, message });
  }

  /** A warning that whoever reads the result must know as well. */
  caveat(place: string | IssueLocation, code: string, message: string): undefined {
    this.warning(place, code, message);
    this.#notes.add(message);
  }

  // A list of a thousand sources with the same fault would make an answer nobody reads.
  #add(severity: Severity, place: string | IssueLocation, said: { code: string; message: string }): void {
    const { path, agentId }: IssueLocation = typeof place === 'string' ? { path: place } : place;
    const key = `${path} ${said.code} ${said.message}`;
    if (this.#issues.has(key) || this.#issues.size > most) return;
    if (this.#issues.size === most) {
      const message = `more than ${most} problems; the rest is not listed`;
      this.#issues.set(key, { severity: 'error', code: 'TOO_MANY_ISSUES', path: '', message });
    } else this.#issues.set(key, { severity, ...said, path, ...(agentId !== undefined && { agentId }) });
  }
}
