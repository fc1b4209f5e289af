# Replaces the command `after`: timers become due when `release` sets the virtual time.
namespace eval ::py2048 { variable now 0; variable count 1000000; variable queue {} }
rename ::after ::py2048::after
proc ::py2048::due {} {
    variable queue
    return [lsort -real -index 1 [lmap {id timer} $queue {list $id {*}$timer}]]
}
proc ::py2048::release {time} {
    variable queue; variable now $time
    foreach timer [due] {
        if {[lindex $timer 1] > $now + 0.001} break
        dict unset queue [lindex $timer 0]
        ::py2048::after 0 [lindex $timer 2]
    }
}
proc ::py2048::next {} { lindex [due] 0 1 }
proc ::after {what args} {
    upvar ::py2048::queue queue
    if {[string is wideinteger -strict $what] && [llength $args]} {
        set id after#[incr ::py2048::count]
        dict set queue $id [list [expr {$::py2048::now + max(1, $what)}] [concat {*}$args]]
        return $id
    }
    set id [lindex $args 0]
    if {$what eq "info" && [dict exists $queue $id]} {
        return [list [lindex [dict get $queue $id] 1] timer]
    }
    if {$what eq "info" && ![llength $args]} {
        return [concat [dict keys $queue] [::py2048::after info]]
    }
    if {$what eq "cancel"} {
        foreach {known timer} $queue {
            if {$known eq $id || [lindex $timer 1] eq [concat {*}$args]} {
                dict unset queue $known
                return
            }
        }
    }
    return [uplevel 1 [list ::py2048::after $what {*}$args]]
}
bind . <<Py2048Look>> {set ::py2048::serial %#}
proc ::py2048::items {canvas options} {
    lmap item [$canvas find all] {
        list [$canvas type $item] [$canvas coords $item] [lmap name $options {
            if {[catch {$canvas itemcget $item -$name} value]} {set value ""}
            string range $value 0 end
        }]
    }
}
