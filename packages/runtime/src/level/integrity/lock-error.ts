import { StartError } from '../../errors/common-errors.ts'

/** True if LevelDB refused a folder because another process has it open. */
export const isLockError = (error: unknown): boolean =>
  (error as { cause?: { code?: string } }).cause?.code === 'LEVEL_LOCKED'

export const createLockedError = (service: string, folder: string): StartError =>
  new StartError('DATA_LOCKED', `${service}: data folder ${folder} is in use by another process`)
