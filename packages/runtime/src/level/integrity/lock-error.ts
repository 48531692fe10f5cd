/** Whether LevelDB refused a folder because another process has it open. */
export const isLockError = (error: unknown): boolean =>
  (error as { cause?: { code?: string } }).cause?.code === 'LEVEL_LOCKED'
