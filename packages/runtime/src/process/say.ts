import { createSink } from './sink.ts'

const tell = (lost: number) => `(${lost} lines could not be written)`
const sinks = [1, 2].map((fd) => createSink(fd, { tell }))

/** Tells the user something, in whole lines, on standard error unless told otherwise. Faults of either are nobody's. */
export const say = (text: string, fd: 1 | 2 = 2): void => sinks[fd - 1]!.write(text)
