/** A row of a table of trials: it measures what its table names, in its own way. */
export interface TrialRow {
  readonly name: string
  readonly contender: string
  /**
   * One trial.
   * @returns figures by the names of the table's columns; `say` tells what is under way
   * @throws Error when an answer was wrong or missing: such a trial is no result
   */
  run(say: (what: string) => void): Promise<Figures>
  /** What a source says of the like, by the names of columns. */
  readonly source?: Figures
}

export type Figures = Readonly<Record<string, number | string>>

/** What the trials of a row came to, or why it is no result. */
export interface TrialRowResult {
  readonly name: string
  readonly contender: string
  readonly figures: Figures
  readonly source?: Figures
  readonly failure?: string
}
