// #region migrations
import { writeFileSync } from 'node:fs';
import { sqliteMigrations } from '@mcp-saga/sql';

for (const [index, sql] of sqliteMigrations().entries()) {
  writeFileSync(`migrations/${String(index + 1).padStart(4, '0')}_sagas.sql`, sql);
}
// #endregion migrations
