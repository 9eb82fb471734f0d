// Opens a bare PGlite on the folder given, asks it one thing, and ends.
import { PGlite } from '@electric-sql/pglite';

const database = await PGlite.create(process.argv[2] ?? '');
await database.query('SELECT 1');
await database.close();
