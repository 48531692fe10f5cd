import { errors } from './errors.ts'

/** Receives the number of a line, and the reason why it is invalid. A reader continues with the next line. */
export type OnInvalidLine = (line: number, reason: string) => void

/** @throws Problem `BAD_LINE` */
export const refuseLine: OnInvalidLine = (line, reason) => {
  throw errors.BAD_LINE(`line ${line}: ${reason}`)
}
