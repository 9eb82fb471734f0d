// For tests that open the embedded database themselves: it lives for seconds there, and compiling it well would take
// longer than it saves.
import { setFlagsFromString } from 'node:v8';

setFlagsFromString('--liftoff-only');
