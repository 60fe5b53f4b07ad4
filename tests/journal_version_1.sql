-- A journal as version 1 of the schema made it, with one conversation of two ops and one of none.
CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY, notebook TEXT NOT NULL, changed REAL NOT NULL,
    info TEXT NOT NULL);
CREATE INDEX sessions_by_notebook ON sessions (notebook);
CREATE TABLE events (
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    seq INTEGER NOT NULL, kind TEXT NOT NULL, block INTEGER, data TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)) WITHOUT ROWID;
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    conversation INTEGER NOT NULL, data TEXT NOT NULL);
CREATE INDEX messages_in_order ON messages (session_id, conversation, id);
CREATE TABLE prompts (
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    digest TEXT NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (session_id, digest)) WITHOUT ROWID;
CREATE TABLE requests (
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    step INTEGER NOT NULL, digest TEXT NOT NULL, data TEXT NOT NULL,
    conversation INTEGER NOT NULL, last_message INTEGER NOT NULL,
    PRIMARY KEY (session_id, step)) WITHOUT ROWID;
CREATE TABLE ops (
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    seq INTEGER NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)) WITHOUT ROWID;
CREATE TABLE outputs (
    session_id TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    cell_id TEXT NOT NULL, data TEXT NOT NULL,
    PRIMARY KEY (session_id, cell_id));
PRAGMA user_version=1;
INSERT INTO sessions VALUES('s1','a.ipynb',1.0,'{"session_id":"s1","notebook":"a.ipynb","title":"Title","model":"model","mode":"review","running":false,"created":0.5,"changed":1.0,"last_seq":0}');
INSERT INTO sessions VALUES('s2','a.ipynb',1.0,'{"session_id":"s2","notebook":"a.ipynb","title":"Title","model":"model","mode":"review","running":false,"created":0.5,"changed":1.0,"last_seq":0}');
INSERT INTO events VALUES('s1',1,'turn_started',NULL,'{"type":"turn_started","turn":1,"text":"Add up","mode":"review","model":"model"}');
INSERT INTO events VALUES('s1',2,'step_started',NULL,'{"type":"step_started","step":1}');
INSERT INTO messages VALUES(1,'s1',1,'{"role":"user","content":[{"type":"text","text":"Add up"}]}');
INSERT INTO messages VALUES(2,'s1',1,'{"role":"assistant","content":[{"type":"text","text":"Done."}]}');
INSERT INTO ops VALUES('s1',1,'{"seq":1,"turn":1,"op":{"op":"insert","cell_id":"c1","cell_type":"raw","source":"1 + 1","after":[],"metadata":{}},"receipt":null}');
INSERT INTO ops VALUES('s1',2,'{"seq":2,"turn":1,"op":{"op":"delete","cell_id":"c1","expect":"1 + 1"},"receipt":null}');
INSERT INTO outputs VALUES('s1','c1','[{"output_type":"stream","name":"stdout","text":"2\n"}]');
INSERT INTO prompts VALUES('s1','8b979bed848ca68e88fc5f1840f9edb1267e906ae967f6b964aa5b3e10ff4e10','Be good.');
INSERT INTO requests VALUES('s1',1,'8b979bed848ca68e88fc5f1840f9edb1267e906ae967f6b964aa5b3e10ff4e10','{"model":"model"}',1,1);
