PRAGMA user_version=6;
BEGIN TRANSACTION;
CREATE TABLE events (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            seq INTEGER NOT NULL, kind TEXT NOT NULL, block INTEGER, data TEXT NOT NULL,
            PRIMARY KEY (session_id, seq)) WITHOUT ROWID;
INSERT INTO "events" VALUES('s1',1,'turn_started',NULL,'{"type":"turn_started","turn":1,"text":"Add up","mode":"review","model":"m","window":0,"queued":[],"references":[],"messages":null}');
CREATE TABLE leases (
            session_id TEXT PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
            server TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
            beat REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE messages (
            id INTEGER PRIMARY KEY,
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            conversation INTEGER NOT NULL, data TEXT NOT NULL);
INSERT INTO "messages" VALUES(1,'s1',1,'{"role":"user","content":[{"type":"text","text":"Add up"}]}');
CREATE TABLE notices (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE ops (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            seq INTEGER NOT NULL, data TEXT NOT NULL, number INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (session_id, seq)) WITHOUT ROWID;
INSERT INTO "ops" VALUES('s1',1,'{"seq":1,"turn":1,"op":{"op":"insert","cell_id":"a","cell_type":"raw","source":"1","after":[],"metadata":{}},"receipt":{"status":"done","source":"","reason":"","before":null,"after":[]}}',1);
INSERT INTO "ops" VALUES('s1',2,'{"seq":2,"turn":1,"op":{"op":"begin_run","cell_id":"a","digest":"6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b","run_id":"r1","metadata":{},"trusted":false,"tell":false},"receipt":{"status":"done","source":"","reason":"","before":null,"after":[]}}',2);
INSERT INTO "ops" VALUES('s1',3,'{"seq":3,"turn":1,"op":{"op":"finish_run","cell_id":"a","run_id":"r1","outputs":[{"output_type":"stream","name":"stdout","text":"one\n"}],"execution_count":1,"trusted":false},"receipt":{"status":"done","source":"","reason":"","before":null,"after":[]}}',3);
INSERT INTO "ops" VALUES('s1',4,'{"seq":4,"turn":1,"op":{"op":"set_source","cell_id":"c1","source":"y","expect":"x","cell_type":null},"receipt":{"status":"done","source":"","reason":"","before":{"id":"c1","cell_type":"code","source":"x","metadata":{},"outputs":[{"output_type":"stream","name":"stdout","text":"before\n"}],"execution_count":4},"after":["a"]}}',4);
INSERT INTO "ops" VALUES('s1',5,'{"seq":5,"turn":1,"op":{"op":"begin_run","cell_id":"c1","digest":"a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa","run_id":"r2","metadata":{},"trusted":false,"tell":false},"receipt":{"status":"done","source":"","reason":"","before":null,"after":[]}}',5);
INSERT INTO "ops" VALUES('s1',6,'{"seq":6,"turn":1,"op":{"op":"finish_run","cell_id":"c1","run_id":"r2","outputs":[{"output_type":"stream","name":"stdout","text":"part"},{"output_type":"error","ename":"E","evalue":"é","traceback":[]}],"execution_count":2,"trusted":false},"receipt":{"status":"done","source":"","reason":"","before":null,"after":[]}}',6);
INSERT INTO "ops" VALUES('s1',7,'{"seq":7,"turn":0,"op":{"op":"restore","cell_id":"c1","cell":{"id":"c1","cell_type":"code","source":"x","metadata":{},"outputs":[{"output_type":"stream","name":"stdout","text":"before\n"}],"execution_count":4},"expect":"y","after":["a"]},"receipt":{"status":"done","source":"","reason":"","before":null,"after":[]}}',7);
INSERT INTO "ops" VALUES('s1',8,'{"seq":8,"turn":1,"op":{"op":"insert","cell_id":"n","cell_type":"raw","source":"n","after":["a"],"metadata":{}},"receipt":null}',8);
CREATE TABLE outputs (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            cell_id TEXT NOT NULL, changed REAL NOT NULL, size INTEGER NOT NULL,
            data TEXT NOT NULL, PRIMARY KEY (session_id, cell_id));
INSERT INTO "outputs" VALUES('s1','a',1.79545463916330122946e+09,57,'[{"output_type":"stream","name":"stdout","text":"one\n"}]');
INSERT INTO "outputs" VALUES('s1','c1',1.79545463916355848305e+09,121,'[{"output_type":"stream","name":"stdout","text":"part"},{"output_type":"error","ename":"E","evalue":"é","traceback":[]}]');
CREATE TABLE prompts (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            digest TEXT NOT NULL, text TEXT NOT NULL,
            PRIMARY KEY (session_id, digest)) WITHOUT ROWID;
CREATE TABLE requests (
            session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
            step INTEGER NOT NULL, digest TEXT NOT NULL, data TEXT NOT NULL,
            conversation INTEGER NOT NULL, last_message INTEGER NOT NULL,
            PRIMARY KEY (session_id, step)) WITHOUT ROWID;
CREATE TABLE sessions (
            session_id TEXT PRIMARY KEY, notebook TEXT NOT NULL, changed REAL NOT NULL,
            info TEXT NOT NULL, saved INTEGER NOT NULL DEFAULT 0);
INSERT INTO "sessions" VALUES('s1','a.ipynb',1700000000.0,'{"session_id":"s1","notebook":"a.ipynb","title":"Add up","model":"m","mode":"review","running":false,"created":1700000000.0,"changed":1700000000.0,"last_seq":0,"held":"","branches":[]}',3);
CREATE TABLE spending (day TEXT PRIMARY KEY, dollars REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX sessions_by_notebook ON sessions (notebook);
CREATE INDEX messages_in_order ON messages (session_id, conversation, id);
CREATE INDEX outputs_by_age ON outputs (changed, size);
CREATE INDEX ops_in_order ON ops (number);
COMMIT;
