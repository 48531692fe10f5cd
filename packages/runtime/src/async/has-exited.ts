import type { ChildProcess } from 'node:child_process'

/** True if a child process has ended, by itself or by a signal. */
export const hasExited = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null
