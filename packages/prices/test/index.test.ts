import { parts } from '../src/parts.ts'
import { indexConformance } from './index.conformance.ts'

for (const [name, open] of Object.entries(parts.index)) indexConformance(name, open)
