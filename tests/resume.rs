//! A search that was broken off goes on as if it had not been: on scripted times to the last
//! byte, and as a process that is killed at any moment.

#[path = "resume/killed.rs"]
mod killed;
#[path = "common/processes.rs"]
mod processes;
#[path = "resume/scripted.rs"]
mod scripted;
